#!/usr/bin/env bash
# Puts NVIDIA's ptxas, which turns GPU kernels into machine code, into a folder
# of a build. It comes from PyPI, without a CUDA toolkit, is NVIDIA's under the
# licence beside it, and is never a part of what this project installs. Does
# nothing (and needs no network) when everything is there.
#
# usage: install-ptxas.sh FOLDER
#   FOLDER/VERSION/bin/ptxas   each version that kernels are tested with
#   FOLDER/bin/ptxas           the one that is used when no other is named
set -euo pipefail

fail() {
  echo "error: $*" >&2
  exit 1
}

# version|SHA-256 of the x86-64 package, the default first. The last is the
# newest of CUDA 13: raise it by hand, with its hash.
package=nvidia-cuda-nvcc
versions="
13.0.88|56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03
13.5.37|f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7
"

case "${1:-}" in
-h | --help)
  sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 0
  ;;
esac
[ $# -eq 1 ] || fail "folder for ptxas: got $# arguments, expected one"
folder=$1

missing=()
default=
for entry in $versions; do
  default=${default:-${entry%%|*}}
  [ -x "$folder/${entry%%|*}/bin/ptxas" ] || missing+=("$entry")
done

log=
temporary=
trap 'rm -rf ${temporary:+"$temporary"} ${log:+"$log"}' EXIT

# An interpreter whose pip works, of PATH or the distribution's.
find_pip() {
  for python in python3 /usr/bin/python3; do
    "$python" -m pip --version >/dev/null 2>&1 && return 0
  done
  fail "pip: got no python3 that has it, expected python3-pip (its name on Debian 12)"
}

install() { # version, hash
  temporary=$(mktemp -d)
  log=$(mktemp)
  echo "$package==$1 --hash=sha256:$2" >"$temporary/requirements.txt"
  "$python" -m pip download --quiet --disable-pip-version-check --no-input --no-deps \
    --require-hashes --only-binary :all: --dest "$temporary" \
    -r "$temporary/requirements.txt" >"$log" 2>&1 </dev/null || {
    tail -n 5 "$log" >&2
    fail "package $package==$1: got none, expected it from PyPI"
  }
  "$python" - "$temporary" <<'EOF'
import glob, os, sys, zipfile

folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(os.path.join(folder, "*.whl"))[0]) as wheel:
    for name in wheel.namelist():
        base = os.path.basename(name)
        target = {"ptxas": "bin/ptxas", "License.txt": "License.txt"}.get(base)
        if target:
            path = os.path.join(folder, "new", target)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(wheel.read(name))
EOF
  chmod 755 "$temporary/new/bin/ptxas"
  "$temporary/new/bin/ptxas" --version | grep -qF "V$1" ||
    fail "ptxas of $package==$1: got another version, expected V$1"
  # Whoever looks sees all of it or nothing.
  mkdir -p "$folder"
  rm -rf "${folder:?}/$1" "$folder/.new-$1-$$"
  mv "$temporary/new" "$folder/.new-$1-$$"
  mv -T "$folder/.new-$1-$$" "$folder/$1"
  rm -rf "$temporary" "$log"
}

if [ ${#missing[@]} -gt 0 ]; then
  find_pip
  for entry in "${missing[@]}"; do
    echo "dependencies: installing ptxas ${entry%%|*} ($package of PyPI) in $folder"
    install "${entry%%|*}" "${entry#*|}"
  done
fi
[ "$(readlink "$folder/bin" 2>/dev/null)" = "$default/bin" ] ||
  ln -sfn "$default/bin" "$folder/bin"
