// RUN: sparseattn-opt %s --sparseattn-verify-schedule | FileCheck %s
// RUN: sparseattn-opt %s --pass-pipeline='builtin.module(sparseattn-verify-schedule{coverage=false max-violations=1})' | FileCheck %s

// A module without a schedule is left alone.

// CHECK: module @other {
module @other {}
