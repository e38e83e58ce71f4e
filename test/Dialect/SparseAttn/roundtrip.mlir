// RUN: sparseattn-opt %s | sparseattn-opt | FileCheck %s
// RUN: sparseattn-opt %s --mlir-print-op-generic | sparseattn-opt | FileCheck %s

// Long attributes and types are written in full here and print as aliases.

// CHECK-DAG: #order = #sparseattn.order<hilbert, grid = [9, 30, 52]>
// CHECK-DAG: #placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 12, kv_heads = 4, q_blocks = 110, kv_blocks = 110>
// CHECK-DAG: #plan = #sparseattn.plan<mesh = <ulysses = 4, ring = 1>, heads = 12, kv_heads = 4, q_blocks = 110, kv_blocks = 110, moves = {{\[\[}}2, 0, 1], [3, 1, 0]], loads_before = [4, 3, 2, 1], loads_after = [3, 3, 3, 1]>
// CHECK-DAG: !mask = !sparseattn.mask<12x110x110, block = 128x128, tokens = 14040x14040, order = #order>

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
    on <mesh = #sparseattn.mesh<ulysses = 4, ring = 1>,
                             heads = 12, kv_heads = 4, q_blocks = 110, kv_blocks = 110>
    : tensor<12x14040x128xf32>, tensor<4x14040x128xf32>
  %qh = sparseattn.reshard %q, %0 to heads : tensor<12x14040x128xf32>
  %1 = sparseattn.balance %0, %mask using swap thresholds 1050, 1100 : !mask
  %2 = sparseattn.balance %0, %mask using swap
    cost <tile_ps = 7000> thresholds 1010, 1020 : !mask
  %3 = sparseattn.balance %0, %mask using swap
    plan <mesh = <ulysses = 4, ring = 1>, heads = 12, kv_heads = 4,
                          q_blocks = 110, kv_blocks = 110,
                          moves = [[2, 0, 1], [3, 1, 0]],
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

// CHECK-LABEL: func.func @masks
// CHECK: sparseattn.explicit_mask dense<{{.*}}> : tensor<1x2x3xi1> -> !mask{{.*}}
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

// CHECK-LABEL: func.func @permute_and_merge
// CHECK: sparseattn.permute %{{.*}} by #order{{.*}} : tensor<2x256x64xbf16>
// CHECK: sparseattn.permute %{{.*}} by #order{{.*}} inverse : tensor<2x256x64xbf16>
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
