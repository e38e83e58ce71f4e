#!/usr/bin/env bash
# Builds sparseattn-<version>-linux-<machine>.tar.xz, which runs where nothing is
# installed, and prints its path. Installs what is missing to build it.
#
# usage: make-archive.sh [--build-dir DIR] [--fast]
#   --build-dir  where to build (default build-redistributable/)
#   --fast       objects of the dev preset, which a compiler cache may have
#                (assertions stay on), a quick compression and few GPU
#                kernels: for tests
#                (default build-archive-test/)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build_dir=
fast=no
while [ $# -gt 0 ]; do
  case "$1" in
  -h | --help)
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  --fast) fast=yes && shift ;;
  --build-dir)
    if [ $# -lt 2 ]; then
      echo "error: --build-dir needs a value: got none, expected one after it" >&2
      exit 1
    fi
    build_dir=$2
    shift 2
    ;;
  *)
    echo "error: option is unknown: got $1, expected one of make-archive.sh --help" >&2
    exit 1
    ;;
  esac
done

if [ -z "$build_dir" ]; then
  build_dir=$root/build-redistributable
  [ "$fast" = no ] || build_dir=$root/build-archive-test
fi

"$root/tools/install-dependencies.sh" archive >&2
mkdir -p "$build_dir"
build_dir=$(cd "$build_dir" && pwd -P)
settings=(-DSPARSEATTN_ENABLE_ASSERTIONS=OFF)
flags="-O2 -DNDEBUG"
compression=--lzma2=preset=9e
if [ "$fast" = yes ]; then
  settings=(-DSPARSEATTN_ENABLE_ASSERTIONS=ON)
  flags=-O2
  compression=--lzma2=preset=3
fi
(cd "$root" && cmake --preset redistributable -B "$build_dir" "${settings[@]}" \
  -DCMAKE_C_FLAGS_RELEASE="$flags" -DCMAKE_CXX_FLAGS_RELEASE="$flags") \
  >"$build_dir/configure.log" 2>&1 || {
  cat "$build_dir/configure.log" >&2
  echo "error: configuring $build_dir failed" >&2
  exit 1
}
"$root/tools/build.sh" --preset redistributable --build-dir "$build_dir" all >&2

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build_dir/CMakeCache.txt")
name=sparseattn-$version-linux-$(uname -m)
rm -rf "$build_dir/stage" "$build_dir"/sparseattn-*.tar.xz
cmake --install "$build_dir" --prefix "$build_dir/stage/$name" >/dev/null
"$root/tools/install-ptxas.sh" "$build_dir/ptxas" >&2
one=
[ "$fast" = no ] || one=--one
"$root/tools/ship-kernels.sh" "$build_dir/stage/$name" \
  "$build_dir/ptxas/bin/ptxas" $one >&2
# The same sources give the same bytes: sorted names, one owner, one time.
time=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)
tar --create --directory "$build_dir/stage" --sort=name --owner=0 --group=0 \
  --numeric-owner --mode=u+rwX,go+rX,go-w --mtime="@$time" "$name" |
  xz --x86 "$compression" >"$build_dir/$name.tar.xz.part"
mv "$build_dir/$name.tar.xz.part" "$build_dir/$name.tar.xz"
rm -rf "$build_dir/stage"
echo "$build_dir/$name.tar.xz"
