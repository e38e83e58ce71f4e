// A trained vision transformer's heads on a frame of 30 x 52 patches and a class token, in the model's
// order: examples/data/vit_s14.npz. Heads 0 to 5 are those of layer 3, 6 to 11 those of layer 9.

!x = tensor<12x1561x64xf16>
!lse = tensor<12x1561xf32>
!pooled = tensor<12x25x64xf32>
#order = #sparseattn.order<hilbert, grid = [1, 30, 52], prefix = 1>
!mask = !sparseattn.mask<12x25x25, block = 64x64, tokens = 1561x1561, order = #order>

func.func @vit_s14(%q: !x, %k: !x, %v: !x) -> (!x, !lse) {
  %qo = sparseattn.permute %q by #order : !x
  %ko = sparseattn.permute %k by #order : !x
  %vo = sparseattn.permute %v by #order : !x
  %pq = sparseattn.pool %qo block 64 : !x -> !pooled
  %pk = sparseattn.pool %ko block 64 : !x -> !pooled
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, min_blocks = 2> scale 0.125
    : !pooled, !pooled -> !mask
  %oo, %lseo = sparseattn.attend %qo, %ko, %vo, %mask scale 0.125 : !x, !x, !x, !mask -> !x, !lse
  %o = sparseattn.permute %oo by #order inverse : !x
  %lse = sparseattn.permute %lseo by #order inverse : !lse
  return %o, %lse : !x, !lse
}
