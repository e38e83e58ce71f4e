// RUN: sparseattn-opt %s --sparseattn-plan-constant-masks --split-input-file | FileCheck %s

#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 1, kv_blocks = 4>
#plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 1, kv_blocks = 4>
!q = tensor<4x64x64xf32>
!k = tensor<4x256x64xf32>
!mask = !sparseattn.mask<4x1x4, block = 64x64, tokens = 64x256>

// Loads 4, 3 | 1, 0: giving 4 for 1 (or 3 for 0) leaves 4 and 4. rho before is
// 7 / 4; a threshold above that keeps the heads where they are.

// CHECK-DAG: #[[SWAP:.*]] = #sparseattn.plan<{{.*}}, moves = {{\[\[}}{{.*}}]], loads_before = [7, 1], loads_after = [4, 4]>
// CHECK-DAG: #[[KEEP:.*]] = #sparseattn.plan<{{.*}} kv_blocks = 4, loads_before = [7, 1], loads_after = [7, 1]>
// CHECK-DAG: #[[TEXT:.*]] = #sparseattn.plan<{{.*}} kv_blocks = 4>
// CHECK-LABEL: func.func @constant
// CHECK: sparseattn.balance %{{.*}}, %{{.*}} using swap plan #[[SWAP]] : !mask
// CHECK: sparseattn.balance %{{.*}}, %{{.*}} using none plan #[[KEEP]] : !mask
// CHECK: sparseattn.balance %{{.*}}, %{{.*}} using swap plan #[[KEEP]] thresholds 1800, 1900 : !mask
// A plan that is written is what runs.
// CHECK: sparseattn.balance %{{.*}}, %{{.*}} using swap plan #[[TEXT]] : !mask
func.func @constant(%q: !q, %k: !k) {
  %mask = sparseattn.explicit_mask dense<[
    [[true, true, true, true]], [[true, true, true, false]],
    [[false, true, false, false]], [[false, false, false, false]]]>
    : tensor<4x1x4xi1> -> !mask
  %0 = sparseattn.place %q, %k on #placement : !q, !k
  %1 = sparseattn.balance %0, %mask using swap : !mask
  %2 = sparseattn.balance %0, %mask using none : !mask
  %3 = sparseattn.balance %0, %mask using swap thresholds 1800, 1900 : !mask
  %4 = sparseattn.balance %0, %mask using swap plan #plan : !mask
  return
}

// -----

// Nothing to do: the mask is known at run time.

#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 1, kv_blocks = 4>
!q = tensor<4x64x64xf32>
!k = tensor<4x256x64xf32>
!mask = !sparseattn.mask<4x1x4, block = 64x64, tokens = 64x256>

// CHECK-LABEL: func.func @routed
// CHECK: sparseattn.balance %{{.*}}, %{{.*}} using swap : !mask
func.func @routed(%q: !q, %k: !k, %pq: tensor<4x1x64xf32>, %pk: tensor<4x4x64xf32>) {
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<4x1x64xf32>, tensor<4x4x64xf32> -> !mask
  %0 = sparseattn.place %q, %k on #placement : !q, !k
  %1 = sparseattn.balance %0, %mask using swap : !mask
  return
}
