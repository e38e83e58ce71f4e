// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (permute C1)
func.func @permute(%x: tensor<2x100x64xf32>) {
  // expected-error @below {{'sparseattn.permute' op token count of input must equal that of the order: got 100, expected 128}}
  %0 = sparseattn.permute %x by <hilbert, grid = [2, 8, 8]> : tensor<2x100x64xf32>
  return
}

// -----

// (permute C2)
func.func @permute_type(%x: tensor<2x128x64xf32>) {
  // expected-error @below {{'sparseattn.permute' op type of output must equal type of input: got 'tensor<2x128x64xbf16>', expected 'tensor<2x128x64xf32>'}}
  %0 = "sparseattn.permute"(%x) <{order = #sparseattn.order<hilbert, grid = [2, 8, 8]>}>
    : (tensor<2x128x64xf32>) -> tensor<2x128x64xbf16>
  return
}

// -----

// (merge C1)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                 %o1: tensor<2x99x64xf32>, %l1: tensor<2x100xf32>) {
  // expected-error @below {{'sparseattn.merge' op type of rhs_o must equal type of lhs_o: got 'tensor<2x99x64xf32>', expected 'tensor<2x100x64xf32>'}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x100xf32>, tensor<2x99x64xf32>, tensor<2x100xf32>)
    -> (tensor<2x100x64xf32>, tensor<2x100xf32>)
  return
}

// -----

// (merge C1)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                 %o1: tensor<2x100x64xf32>, %l1: tensor<2x100xf32>) {
  // expected-error @below {{'sparseattn.merge' op type of o must equal type of lhs_o: got 'tensor<2x99x64xf32>', expected 'tensor<2x100x64xf32>'}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x100xf32>, tensor<2x100x64xf32>, tensor<2x100xf32>)
    -> (tensor<2x99x64xf32>, tensor<2x100xf32>)
  return
}

// -----

// (merge C2)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                 %o1: tensor<2x100x64xf32>, %l1: tensor<2x99xf32>) {
  // expected-error @below {{'sparseattn.merge' op type of rhs_lse must equal type of lhs_lse: got 'tensor<2x99xf32>', expected 'tensor<2x100xf32>'}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x100xf32>, tensor<2x100x64xf32>, tensor<2x99xf32>)
    -> (tensor<2x100x64xf32>, tensor<2x100xf32>)
  return
}

// -----

// (merge C2)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                 %o1: tensor<2x100x64xf32>, %l1: tensor<2x100xf32>) {
  // expected-error @below {{'sparseattn.merge' op type of lse must equal type of lhs_lse: got 'tensor<2x99xf32>', expected 'tensor<2x100xf32>'}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x100xf32>, tensor<2x100x64xf32>, tensor<2x100xf32>)
    -> (tensor<2x100x64xf32>, tensor<2x99xf32>)
  return
}

// -----

// (merge C3)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x99xf32>,
                 %o1: tensor<2x100x64xf32>, %l1: tensor<2x99xf32>) {
  // expected-error @below {{'sparseattn.merge' op shape of lhs_lse must equal heads x tokens of lhs_o: got 2x99, expected 2x100}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x99xf32>, tensor<2x100x64xf32>, tensor<2x99xf32>)
    -> (tensor<2x100x64xf32>, tensor<2x99xf32>)
  return
}
