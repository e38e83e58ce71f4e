#!/usr/bin/env bash
# Configures when needed and builds the given targets (default: all).
#
# usage: build.sh [--preset NAME] [--build-dir DIR] [target...]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
preset=dev
build_dir=
targets=()
while [ $# -gt 0 ]; do
  case "$1" in
  --preset | --build-dir)
    if [ $# -lt 2 ]; then
      echo "error: $1 needs a value: got none, expected one after it" >&2
      exit 1
    fi
    if [ "$1" = --preset ]; then preset=$2; else build_dir=$2; fi
    shift 2
    ;;
  -h | --help)
    sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *) targets+=("$1") && shift ;;
  esac
done
case "$preset" in
dev) default_dir=$root/build ;;
*) default_dir=$root/build-$preset ;;
esac
build_dir=${build_dir:-$default_dir}

# Compile results are shared between checkouts in different places.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1

log=$(mktemp)
trap 'rm -f "$log"' EXIT

configure() {
  if ! (cd "$root" && cmake --preset "$preset" -B "$build_dir" "$@") >"$log" 2>&1; then
    cat "$log" >&2
    echo "error: configuring $build_dir failed" >&2
    exit 1
  fi
}

# A folder that was copied or moved with its checkout cannot be reused.
configured_for=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' \
  "$build_dir/CMakeCache.txt" 2>/dev/null || true)
if [ -n "$configured_for" ] && [ "$configured_for" != "$root" ]; then
  configure --fresh
elif [ ! -e "$build_dir/build.ninja" ] ||
  [ "$root/CMakePresets.json" -nt "$build_dir/build.ninja" ]; then
  configure
fi
ninja -C "$build_dir" ${targets[@]+"${targets[@]}"}
