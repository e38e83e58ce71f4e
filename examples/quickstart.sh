#!/usr/bin/env bash
# Installs what is missing, builds the example video-DiT host and runs it.
# Arguments go to the host: see build/bin/sparseattn-dit-host --help.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
"$root/tools/install-dependencies.sh" build
echo "building (a few minutes the first time)"
"$root/tools/build.sh" sparseattn-dit-host sparseattn-run sparseattn-opt
for argument in "$@"; do
  case "$argument" in
  --out | --out=*) exec "$root/build/bin/sparseattn-dit-host" "$@" ;;
  esac
done
exec "$root/build/bin/sparseattn-dit-host" --out "$root/build/quickstart" "$@"
