// RUN: sparseattn-opt %s --sparseattn-emit-cpu-kernels="cpu=x86-64-v3" --verify-diagnostics

module {
  // expected-error @below {{'builtin.module' op '@kernels' in the module: got one, expected none before sparseattn-emit-cpu-kernels}}
  module @kernels {
  }
}
