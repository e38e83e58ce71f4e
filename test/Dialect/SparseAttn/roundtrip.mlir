// RUN: sparseattn-opt %s --split-input-file | sparseattn-opt --split-input-file | FileCheck %s
// RUN: sparseattn-opt %s --split-input-file --mlir-print-op-generic | sparseattn-opt --split-input-file | FileCheck %s

// Long attributes and types are written in full here and print as aliases.

// CHECK: !mask = !sparseattn.mask<12x110x110, block = 128x128, tokens = 14040x14040, order = #order>

// The least that a user writes.
// CHECK-LABEL: func.func @layer
// CHECK: %[[PQ:.*]] = sparseattn.pool %{{.*}} block 128 : tensor<12x14040x128xf32> -> tensor<12x110x128xf32>
// CHECK: %[[PK:.*]] = sparseattn.pool
// CHECK: %[[M:.*]] = sparseattn.route %[[PQ]], %[[PK]] policy #sparseattn.top_p<p = 0.9, min_blocks = 4> scale 0.0883883461 : tensor<12x110x128xf32>, tensor<4x110x128xf32> -> !mask
// CHECK: sparseattn.attend %{{.*}}, %{{.*}}, %{{.*}}, %[[M]] scale 0.0883883461 : tensor<12x14040x128xf32>, tensor<4x14040x128xf32>, tensor<4x14040x128xf32>, !mask -> tensor<12x14040x128xf32>, tensor<12x14040xf32>
func.func @layer(%q: tensor<12x14040x128xf32>, %k: tensor<4x14040x128xf32>,
                 %v: tensor<4x14040x128xf32>)
    -> (tensor<12x14040x128xf32>, tensor<12x14040xf32>) {
  %pq = sparseattn.pool %q block 128
    : tensor<12x14040x128xf32> -> tensor<12x110x128xf32>
  %pk = sparseattn.pool %k block 128
    : tensor<4x14040x128xf32> -> tensor<4x110x128xf32>
  %mask = sparseattn.route %pq, %pk
    policy #sparseattn.top_p<min_blocks = 4, p = 0.9> scale 0.0883883461
    : tensor<12x110x128xf32>, tensor<4x110x128xf32>
    -> !sparseattn.mask<12x110x110, tokens = 14040x14040, block = 128x128,
                        order = #sparseattn.order<hilbert, grid = [9, 30, 52]>>
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.0883883461
    : tensor<12x14040x128xf32>, tensor<4x14040x128xf32>,
      tensor<4x14040x128xf32>,
      !sparseattn.mask<12x110x110, block = 128x128, tokens = 14040x14040,
                       order = <hilbert, grid = [9, 30, 52]>>
    -> tensor<12x14040x128xf32>, tensor<12x14040xf32>
  return %o, %lse : tensor<12x14040x128xf32>, tensor<12x14040xf32>
}

// -----

// CHECK-DAG: #cost = #sparseattn.cost_model<tile_ps = 7000, byte_ps = 3>
// CHECK-DAG: #order = #sparseattn.order<hilbert, grid = [9, 30, 52]>
// CHECK-DAG: #placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 2>, heads = 12, kv_heads = 4, q_blocks = 110, kv_blocks = 110>
// CHECK-DAG: #plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = 12, kv_heads = 4, q_blocks = 110, kv_blocks = 110, moves = {{\[\[}}5, 0, 1], [6, 1, 0]], transfers = {{\[\[}}0, 0, 1, 0, [55, 60, 62, 63]], [1, 0, 0, 1, [0, 2]]], extras = {{\[\[}}0, 1, 7]], loads_before = [4, 3, 2, 1], loads_after = [3, 3, 3, 1]>
// CHECK-LABEL: func.func @plan
// CHECK: sparseattn.place %{{.*}}, %{{.*}} on #placement : tensor<12x14040x128xf32>, tensor<4x14040x128xf32>
// CHECK: sparseattn.reshard %{{.*}}, %{{.*}} to heads : tensor<12x14040x128xf32>
// CHECK: sparseattn.balance %{{.*}}, %{{.*}} using swap : !mask
// CHECK: sparseattn.balance %{{.*}}, %{{.*}} using swap cost #cost thresholds 1010, 1020 : !mask
// CHECK: sparseattn.balance %{{.*}}, %{{.*}} using swap plan #plan : !mask
// CHECK: sparseattn.augment %{{.*}}, %{{.*}} : !mask
// CHECK: sparseattn.augment %{{.*}}, %{{.*}} slack 900, 50 : !mask
// CHECK: sparseattn.demand %{{.*}}, %{{.*}} : !mask
// CHECK: sparseattn.attend {{.*}} with %{{.*}} scale
!mask = !sparseattn.mask<12x110x110, block = 128x128, tokens = 14040x14040,
                         order = <hilbert, grid = [9, 30, 52]>>
func.func @plan(%q: tensor<12x14040x128xf32>, %k: tensor<4x14040x128xf32>,
                %mask: !mask) -> tensor<12x14040xf32> {
  %0 = sparseattn.place %q, %k
    on <mesh = #sparseattn.mesh<ring = 2, ulysses = 2>,
                             heads = 12, kv_heads = 4, q_blocks = 110, kv_blocks = 110>
    : tensor<12x14040x128xf32>, tensor<4x14040x128xf32>
  %qh = sparseattn.reshard %q, %0 to heads : tensor<12x14040x128xf32>
  %1 = sparseattn.balance %0, %mask using swap thresholds 1050, 1100 : !mask
  %2 = sparseattn.balance %0, %mask using swap
    cost <byte_ps = 3, tile_ps = 7000> thresholds 1010, 1020 : !mask
  %3 = sparseattn.balance %0, %mask using swap
    plan <mesh = <ulysses = 2, ring = 2>, heads = 12, kv_heads = 4,
                          q_blocks = 110, kv_blocks = 110,
                          moves = [[5, 0, 1], [6, 1, 0]],
                          transfers = [[0, 0, 1, 0, [55, 60, 62, 63]], [1, 0, 0, 1, [0, 2]]],
                          extras = [[0, 1, 7]],
                          loads_before = [4, 3, 2, 1], loads_after = [3, 3, 3, 1]> : !mask
  %4 = sparseattn.augment %mask, %1 : !mask
  %5 = sparseattn.augment %mask, %1 slack 900, 50 : !mask
  %6 = sparseattn.demand %5, %1 : !mask
  %o, %lse = sparseattn.attend %qh, %k, %k, %5 with %6 scale 0.1
    : tensor<12x14040x128xf32>, tensor<4x14040x128xf32>,
      tensor<4x14040x128xf32>, !mask
    -> tensor<12x14040x128xf32>, tensor<12x14040xf32>
  %7 = sparseattn.reshard %lse, %6 to sequence : tensor<12x14040xf32>
  return %7 : tensor<12x14040xf32>
}

// -----

// CHECK: !mask = !sparseattn.mask<1x2x3, block = 64x64, tokens = 100x150, causal>
// CHECK-LABEL: func.func @masks
// CHECK: sparseattn.explicit_mask dense<{{.*}}> : tensor<1x2x3xi1> -> !mask
// CHECK: sparseattn.policy_mask #sparseattn.dense -> !mask
// CHECK: sparseattn.policy_mask #sparseattn.window<blocks = 3> -> !mask
// CHECK: sparseattn.union %{{.*}}, %{{.*}} : !mask
// CHECK: sparseattn.intersect %{{.*}}, %{{.*}} : !mask
!small = !sparseattn.mask<1x2x3, block = 64x64, tokens = 100x150, causal>
func.func @masks() -> !small {
  %0 = sparseattn.explicit_mask
    dense<[[[true, false, true], [false, false, true]]]> : tensor<1x2x3xi1> -> !small
  %1 = sparseattn.policy_mask #sparseattn.dense -> !small
  %2 = sparseattn.policy_mask #sparseattn.window<blocks = 3> -> !small
  %3 = sparseattn.union %0, %1 : !small
  %4 = sparseattn.intersect %3, %2 : !small
  return %4 : !small
}

// -----

// CHECK: #order = #sparseattn.order<cubes, grid = [4, 8, 8], cube = [2, 4, 4]>
// CHECK: #order1 = #sparseattn.order<stripes, grid = [3, 8, 8], prefix = 60, suffix = 4>
// CHECK-LABEL: func.func @permute_and_merge
// CHECK: sparseattn.permute %{{.*}} by #order : tensor<2x256x64xbf16>
// CHECK: sparseattn.permute %{{.*}} by #order1 inverse : tensor<2x256x64xbf16>
// CHECK: sparseattn.merge (%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}) : tensor<2x256x64xbf16>, tensor<2x256xf32>
func.func @permute_and_merge(%x: tensor<2x256x64xbf16>, %lse: tensor<2x256xf32>)
    -> tensor<2x256x64xbf16> {
  %0 = sparseattn.permute %x by <cubes, grid = [4, 8, 8], cube = [2, 4, 4]>
    : tensor<2x256x64xbf16>
  %1 = sparseattn.permute %0 by <stripes, grid = [3, 8, 8], prefix = 60, suffix = 4> inverse
    : tensor<2x256x64xbf16>
  %o, %l = sparseattn.merge (%0, %lse), (%1, %lse) : tensor<2x256x64xbf16>, tensor<2x256xf32>
  return %o : tensor<2x256x64xbf16>
}

// -----

// CHECK: #order = #sparseattn.order<tiles, grid = [4, 8, 8], cube = [2, 4, 4], tiles = [2, 3]>
// CHECK: #order1 = #sparseattn.order<tiles, grid = [4, 8, 8]>
// CHECK-LABEL: func.func @permute_to_tiles
func.func @permute_to_tiles(%x: tensor<2x256x64xbf16>) -> tensor<2x256x64xbf16> {
  %0 = sparseattn.permute %x by <tiles, tiles = [2, 3], grid = [4, 8, 8], cube = [2, 4, 4]>
    : tensor<2x256x64xbf16>
  %1 = sparseattn.permute %0 by <tiles, grid = [4, 8, 8], tiles = [1, 1]>
    : tensor<2x256x64xbf16>
  return %1 : tensor<2x256x64xbf16>
}

// -----

// Policies, in their shortest form.

// CHECK: #sparseattn.dense
// CHECK-SAME: #sparseattn.top_k<k = 16, keep = {{\[\[}}0, 1], [4, 5]]>
// CHECK-SAME: #sparseattn.top_p<p = 0.0>
// CHECK-SAME: #sparseattn.top_p<p = 0.95, min_blocks = 3>
// CHECK-SAME: #sparseattn.top_p<p = 1.0, keep = {{\[\[}}0, 2]]>
// CHECK-SAME: #sparseattn.top_p<p = 1.0e-9>
// CHECK-SAME: #sparseattn.window<blocks = 0>
func.func private @policies() attributes {policies = [
  #sparseattn.dense,
  #sparseattn.top_k<keep = [[0, 1], [4, 5]], k = 16>,
  #sparseattn.top_p<p = 0>,
  #sparseattn.top_p<p = 0.95, min_blocks = 3, keep = []>,
  #sparseattn.top_p<p = 1, keep = [[0, 2]], min_blocks = 1>,
  #sparseattn.top_p<p = 1.0e-9>,
  #sparseattn.window<blocks = 0>]}

// -----

// No query, no key, no tile: nothing has to be positive but the heads.

// CHECK-LABEL: func.func @empty
// CHECK: sparseattn.attend
func.func @empty(%q: tensor<2x0x32xf16>, %k: tensor<1x0x32xf16>) -> tensor<2x0xf32> {
  %mask = sparseattn.explicit_mask dense<true> : tensor<2x0x0xi1>
    -> !sparseattn.mask<2x0x0, block = 16x128, tokens = 0x0>
  %o, %lse = sparseattn.attend %q, %k, %k, %mask scale 1.0
    : tensor<2x0x32xf16>, tensor<1x0x32xf16>, tensor<1x0x32xf16>,
      !sparseattn.mask<2x0x0, block = 16x128, tokens = 0x0>
    -> tensor<2x0x32xf16>, tensor<2x0xf32>
  return %lse : tensor<2x0xf32>
}
