// One of these functions cannot be planned: its mask comes from outside.

!x = tensor<4x120x32xf32>
!lse = tensor<4x120xf32>
!pooled = tensor<4x8x32xf32>
!mask = !sparseattn.mask<4x8x8, block = 16x16, tokens = 120x120>

func.func @pooled(%q: !x) -> !pooled {
  %pq = sparseattn.pool %q block 16 : !x -> !pooled
  return %pq : !pooled
}

func.func @argument(%q: !x, %k: !x, %v: !x, %mask: !mask) -> (!x, !lse) {
  %pq = sparseattn.pool %q block 16 : !x -> !pooled
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 4.0 : !x, !x, !x, !mask -> !x, !lse
  return %o, %lse : !x, !lse
}
