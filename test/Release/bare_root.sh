#!/bin/sh
# Runs the commands of an archive in a bare system, as root:
#   debootstrap --variant=minbase bookworm ROOT && bare_root.sh ROOT ARCHIVE
# Other arguments go to sparseattn-dit-host. The last line is OK when all ran.
set -eu

root=$1
archive=$2
shift 2
rm -rf "$root/opt/sparseattn"
mkdir -p "$root/opt/sparseattn"
tar -xJf "$archive" -C "$root/opt/sparseattn" --strip-components=1
cat >"$root/opt/commands.sh" <<'END'
set -eu
cd "$(mktemp -d)"
tree=/opt/sparseattn
PATH=$tree/bin:/usr/bin:/bin
layers=$tree/examples/layers
grep PRETTY_NAME /etc/os-release
ldd --version | head -n 1
[ -z "$(find / -xdev \( -name 'libLLVM*' -o -name 'libMLIR*' \))" ]
sparseattn-run "$layers/small.mlir" --mesh ulysses=2,ring=2 --check=full | tail -n 1
sparseattn-run "$layers/small_gqa.mlir" --ranks 2 --check=full --save-program program.mlir | tail -n 1
sparseattn-opt "$layers/small.mlir" --compile-to=kernel -o kernel.mlir
sparseattn-sim "$layers/small.mlir" --mesh ulysses=2,ring=2 --check | grep check
sparseattn-translate --sa-comm-to-program program.mlir -o program.bin
sparseattn-translate --program-to-sa-comm program.bin -o again.mlir
sparseattn-opt again.mlir -o again.opt.mlir
sparseattn-opt program.mlir -o program.opt.mlir
cmp again.opt.mlir program.opt.mlir
sparseattn-dit-host --out result "$@" | tail -n 3
ls result
echo OK
END
mount --bind /proc "$root/proc"
trap 'umount "$root/proc"' EXIT
chroot "$root" sh /opt/commands.sh "$@"
