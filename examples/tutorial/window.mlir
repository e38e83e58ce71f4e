// The same attention with a mask that is known ahead: each q-block sees its own
// kv-block and one on either side.

!x = tensor<4x120x32xf32>
!lse = tensor<4x120xf32>
!mask = !sparseattn.mask<4x8x8, block = 16x16, tokens = 120x120>

func.func @window(%q: !x, %k: !x, %v: !x) -> (!x, !lse) {
  %mask = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 4.0 : !x, !x, !x, !mask -> !x, !lse
  return %o, %lse : !x, !lse
}
