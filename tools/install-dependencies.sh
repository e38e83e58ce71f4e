#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, all at once, and
# does nothing (and needs no network) when everything is there.
#
# usage: install-dependencies.sh [build|test|archive] [--check]
#   build    what compiling the tools and examples needs
#   test     the same and what test/run.sh needs (the default)
#   archive  what tools/make-archive.sh needs
#   --check  report what is missing, install nothing; status 1 if anything is
set -euo pipefail

fail() {
  echo "error: $*" >&2
  exit 1
}

# package|probe: the package also counts as present when the probe, a command
# or an absolute file name, is found; so a cmake from elsewhere serves.
build_packages="
cmake|cmake
ninja-build|ninja
ccache|ccache
clang-22|clang++-22
lld-22|/usr/lib/llvm-22/bin/ld.lld
llvm-22-dev|/usr/lib/llvm-22/lib/cmake/llvm/LLVMConfig.cmake
llvm-22-tools|/usr/lib/llvm-22/bin/FileCheck
libmlir-22-dev|/usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake
mlir-22-tools|/usr/lib/llvm-22/bin/mlir-tblgen
nlohmann-json3-dev|/usr/include/nlohmann/json.hpp
libgtest-dev|/usr/include/gtest/gtest.h
zlib1g-dev|/usr/include/zlib.h
"
test_packages="
clang-format-22|clang-format-22
clang-tidy-22|clang-tidy-22
python3|/usr/bin/python3
python3-numpy|/usr/lib/python3/dist-packages/numpy/__init__.py
python3-psutil|/usr/lib/python3/dist-packages/psutil/__init__.py
python3-pip|pip3
libopenblas0-pthread|/usr/lib/x86_64-linux-gnu/libopenblas.so.0
openmpi-bin|mpirun
libopenmpi-dev|/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h
"
archive_packages="
libopenmpi-dev|/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h
libzstd-dev|/usr/lib/x86_64-linux-gnu/libzstd.a
libstdc++-12-dev|/usr/share/doc/libstdc++-12-dev/copyright
xz-utils|xz
"

packages="$build_packages $test_packages"
check_only=no
for argument in "$@"; do
  case "$argument" in
  build) packages="$build_packages" ;;
  test) packages="$build_packages $test_packages" ;;
  archive) packages="$build_packages $archive_packages" ;;
  --check) check_only=yes ;;
  -h | --help)
    sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *) fail "argument must be build, test, archive or --check: got $argument" ;;
  esac
done

present() { # package, probe
  case "$2" in
  /*) [ -e "$2" ] && return 0 ;;
  *) command -v "$2" >/dev/null 2>&1 && return 0 ;;
  esac
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

find_missing() {
  missing=()
  local entry
  for entry in $packages; do
    present "${entry%%|*}" "${entry#*|}" || missing+=("${entry%%|*}")
  done
}

find_missing
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$check_only" = yes ]; then
  echo "missing packages: ${missing[*]}"
  exit 1
fi
if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
  fail "packages are missing and this system has no apt-get to install them:" \
    "got ${missing[*]}, expected them installed (their names on Debian 12)"
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 ||
    fail "packages are missing and installing needs root or sudo:" \
      "run as root: apt-get install ${missing[*]}"
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

apt_get() {
  # The ${x[@]+...} form keeps an empty array quiet under set -u.
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1 </dev/null
}

# Other people's repositories may be down; what counts is whether the packages
# have a candidate afterwards.
update_lists() {
  echo "dependencies: reading the package lists"
  apt_get update || true
}

find_unavailable() {
  unavailable=()
  local package policy
  for package in "${missing[@]}"; do
    policy=$(LC_ALL=C apt-cache policy "$package" 2>/dev/null || true)
    [[ "$policy" == *"Candidate: "[!\(]* ]] || unavailable+=("$package")
  done
}

# LLVM 22 is in Debian 12's security archive. A minimal installation may list
# the main archive alone; then the security suite is added beside it.
add_security_suite() {
  local codename base keyring options uri uris file
  codename=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")
  [ "$codename" = bookworm ] || return 1
  [[ "$(LC_ALL=C apt-cache policy)" != *n=bookworm-security* ]] || return 1
  base=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
    'Created-By: Packages' 2>/dev/null | awk '$2 == "bookworm" { print $1; exit }')
  base=${base%/}
  uris=()
  case "$base" in
  */debian) uris+=("$base-security") ;;
  esac
  # Debian's own public name, when the configured mirror has no such folder.
  uris+=("http://deb.debian.org/debian-security")
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  options=
  [ -e "$keyring" ] && options="[signed-by=$keyring] "
  file=/etc/apt/sources.list.d/debian-security.list
  [ ! -e "$file" ] || return 1
  for uri in "${uris[@]}"; do
    echo "dependencies: adding $uri bookworm-security to the package sources ($file)"
    echo "deb ${options}$uri bookworm-security main" |
      ${as_root[@]+"${as_root[@]}"} tee "$file" >/dev/null
    apt_get update -o Dir::Etc::sourcelist="$file" -o Dir::Etc::sourceparts=- \
      -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any && return 0
    ${as_root[@]+"${as_root[@]}"} rm -f "$file"
  done
  return 1
}

echo "dependencies: installing ${missing[*]}"
find_unavailable
if [ ${#unavailable[@]} -gt 0 ]; then
  update_lists
  find_unavailable
fi
if [ ${#unavailable[@]} -gt 0 ] && add_security_suite; then
  find_unavailable
fi
if [ ${#unavailable[@]} -gt 0 ]; then
  tail -n 20 "$log" >&2
  fail "packages have no installation candidate: got ${unavailable[*]}," \
    "expected them in the configured sources (Debian 12 with bookworm-security has them)"
fi
if ! apt_get install -y --no-install-recommends "${missing[@]}"; then
  # Old lists name versions that are gone from the mirror.
  update_lists
  if ! apt_get install -y --no-install-recommends "${missing[@]}"; then
    tail -n 40 "$log" >&2
    fail "apt-get install failed for: ${missing[*]}"
  fi
fi
find_missing
[ ${#missing[@]} -eq 0 ] || fail "packages are still missing after installing: ${missing[*]}"
echo "dependencies: installed"
