#!/usr/bin/env bash
# Compiles the GPU kernels of standard shapes into an installed copy, which then
# needs no ptxas for them: share/sparseattn/kernels/ptxas-VERSION-isa-ISA.
#
# usage: ship-kernels.sh INSTALLED PTXAS [--one]
#   INSTALLED  folder with bin/sparseattn-run
#   PTXAS      NVIDIA's assembler
#   --one      only those of bf16, head_dim 128 and 128x128 blocks, for tests
#
# Standard: bf16 and fp16, head_dim 64, 128 and 256, blocks of 64 and 128, each
# with the kernels that routing it takes.
set -euo pipefail

if [ $# -lt 2 ]; then
  sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 1
fi
installed=$1
ptxas=$2
types="bf16 f16"
dims="64 128 256"
blocks="64 128"
if [ "${3:-}" = --one ]; then
  types=bf16
  dims=128
  blocks=128
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=$("$ptxas" --version | sed -n 's/.*, V\([0-9.]*\)$/\1/p')
layer() { # TYPE DIM BLOCK_Q BLOCK_K
  local nq=$((1024 / $3)) nk=$((1024 / $4))
  cat <<TEXT
!x = tensor<1x1024x$2x$1>
!mask = !sparseattn.mask<1x${nq}x${nk}, block = $3x$4, tokens = 1024x1024>
func.func @layer(%q: !x, %k: !x, %v: !x) -> (!x, tensor<1x1024xf32>) {
  %pq = sparseattn.pool %q block $3 : !x -> tensor<1x${nq}x$2xf32>
  %pk = sparseattn.pool %k block $4 : !x -> tensor<1x${nk}x$2xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 1> scale 0.1
    : tensor<1x${nq}x$2xf32>, tensor<1x${nk}x$2xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !x, !x, !x, !mask -> !x, tensor<1x1024xf32>
  return %o, %lse : !x, tensor<1x1024xf32>
}
TEXT
}
for type in $types; do
  for dim in $dims; do
    for q in $blocks; do
      for k in $blocks; do
        layer "$type" "$dim" "$q" "$k" >"$work/layer.mlir"
        "$installed/bin/sparseattn-run" "$work/layer.mlir" --device cuda \
          --compile-only --ptxas "$ptxas" --cache-dir "$work/cache" >>"$work/log"
      done
    done
  done
done
# The folder's name says what made the kernels.
cat >"$work/empty.mlir" <<'TEXT'
llvm.func @kernel() attributes {nvvm.kernel} {
  llvm.return
}
TEXT
isa=$("$installed/bin/sparseattn-translate" --kernel-to-ptx --ptxas "$ptxas" \
  "$work/empty.mlir" | sed -n 's/^\.version \([0-9]*\)\.\([0-9]*\)$/\1\2/p')
if [ -z "$version" ] || [ -z "$isa" ]; then
  echo "error: ptxas $ptxas: got version '$version' and PTX ISA '$isa', expected both" >&2
  exit 1
fi
folder=$installed/share/sparseattn/kernels/ptxas-$version-isa-$isa
mkdir -p "$folder"
# Only kernels: the cache also remembers where a ptxas lies.
sed -n 's/^kernel .*, key \(.*\)$/\1/p' "$work/log" | sort -u |
  while read -r file; do
    install -m 644 "$work/cache/$file" "$folder/$file"
  done
echo "$(find "$folder" -name '*.sac' | wc -l) kernels in $folder" >&2
