#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test.
#
# usage: run.sh [--preset NAME] [--build-dir DIR] [--only PART,...]
#               [--filter TEXT] [--jobs N] [--ci] [--release]
#        run.sh --device [--archive FILE] [--filter TEXT] [--quick] [--json FILE]
#   --preset     of CMakePresets.json (default dev, built in build/)
#   --only       some of lint, unit, lit, docs, examples, tidy, fuzz, sanitizers,
#                release
#   --filter     only tests whose name has TEXT in it
#   --ci         adds round trips of every module, clang-tidy on the runtime,
#                20 seconds of each fuzz target (built in DIR-fuzz), unit tests
#                under address, undefined-behaviour and thread sanitizers
#                (DIR-fuzz, DIR-tsan) and an archive
#   --release    builds the archive of tools/make-archive.sh instead, unpacks it
#                in an empty folder, and tests it and its commands (with --ci from
#                the objects of the dev preset)
#   --device     runs layers on this machine's GPU instead, from an archive: the
#                given one, or one that is built first (test/device/run_tests.py)
#
# The last line is `N passed, N failed`, with `, N skipped` when some were.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# What went wrong before the first test is one failure.
trap 'echo "0 passed, 1 failed"; exit 1' EXIT

preset=dev
build_dir=
release=no
device=no
archive=
ci=no
arguments=()
while [ $# -gt 0 ]; do
  case "$1" in
  -h | --help)
    trap - EXIT
    sed -n '2,22s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  --ci) ci=yes && arguments+=("$1") && shift ;;
  --release) release=yes && shift ;;
  --device) device=yes && shift ;;
  --quick) arguments+=("$1") && shift ;;
  --preset | --build-dir | --only | --filter | --jobs | --archive | --json)
    if [ $# -lt 2 ]; then
      echo "error: $1 needs a value: got none, expected one after it" >&2
      exit 1
    fi
    case "$1" in
    --preset) preset=$2 ;;
    --build-dir) build_dir=$2 ;;
    --archive) archive=$2 ;;
    *) arguments+=("$1" "$2") ;;
    esac
    shift 2
    ;;
  *)
    echo "error: option is unknown: got $1, expected one of run.sh --help" >&2
    exit 1
    ;;
  esac
done
if [ "$device" = no ] && [ -n "$archive" ]; then
  echo "error: --archive: got it without --device, expected both" >&2
  exit 1
fi
[ "$release" = no ] || preset=redistributable
if [ -z "$build_dir" ]; then
  build_dir=$root/build
  [ "$preset" = dev ] || build_dir=$root/build-$preset
  [ "$release$ci" != yesyes ] || build_dir=$root/build-archive-test
fi
case "$build_dir" in
/*) ;;
*) build_dir=$PWD/$build_dir ;;
esac

if [ "$device" = yes ]; then
  # Nothing is built for a machine without a GPU.
  python=$(command -v python3)
  trap - EXIT
  "$python" "$root/test/device/run_tests.py" --probe || exit 1
  [ -n "$archive" ] || archive=$("$root/tools/make-archive.sh")
  exec "$python" "$root/test/device/run_tests.py" --archive "$archive" \
    ${arguments[@]+"${arguments[@]}"}
fi

"$root/tools/install-dependencies.sh" test
# Without it the tests of GPU kernels fail, unless another ptxas is found; the
# rest can be tested all the same.
"$root/tools/install-ptxas.sh" "$build_dir/ptxas" ||
  echo "dependencies: ptxas is missing, tests of GPU kernels will fail" >&2
echo "building in $build_dir"
if [ "$release" = yes ]; then
  fast=()
  [ "$ci" = no ] || fast=(--fast)
  archive=$("$root/tools/make-archive.sh" --build-dir "$build_dir" ${fast[@]+"${fast[@]}"})
  echo "archive $archive, $(stat -c %s "$archive") bytes"
else
  "$root/tools/build.sh" --preset "$preset" --build-dir "$build_dir" all sparseattn-doc
fi

# The interpreter of the distribution has numpy; another one may come first on
# PATH and not see it.
for python in /usr/bin/python3 python3; do
  "$python" -c 'import numpy' >/dev/null 2>&1 && break
done
if [ "$release" = yes ]; then
  # Nothing says where a library is; FileCheck and its like bring their own path.
  unset LD_LIBRARY_PATH LD_PRELOAD
  folder=$build_dir/test-archive
  rm -rf "$folder"
  llvm_tools=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["llvm_tools_dir"])' \
    "$build_dir/test/build.json")
  "$python" "$root/test/Release/prepare.py" "$archive" "$folder" "$llvm_tools"
  ln -s "$build_dir/ptxas" "$folder/ptxas"
  build_dir=$folder
  arguments=(--only release,lit,docs,examples ${arguments[@]+"${arguments[@]}"})
fi
trap - EXIT
exec "$python" "$root/test/run_tests.py" --build-dir "$build_dir" \
  ${arguments[@]+"${arguments[@]}"}
