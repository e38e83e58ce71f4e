// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (!mask C1)
// expected-error @below {{heads of a mask: got 0, expected at least 1}}
func.func private @f(!sparseattn.mask<0x2x2, block = 64x64, tokens = 128x128>)

// -----

// (!mask C2)
// expected-error @below {{block of a mask: got 0x64, expected at least 1x1}}
func.func private @f(!sparseattn.mask<1x2x2, block = 0x64, tokens = 128x128>)

// -----

// (!mask C3)
// expected-error @below {{tokens of a mask: got 128x1099511627776, expected from 0 to 1099511627775}}
func.func private @f(!sparseattn.mask<1x2x2, block = 64x64, tokens = 128x1099511627776>)

// -----

// (!mask C4)
// expected-error @below {{q-block count of a mask must equal ceil(14040 / 128): got 109, expected 110}}
func.func private @f(!sparseattn.mask<12x109x110, block = 128x128, tokens = 14040x14040>)

// -----

// (!mask C4)
// expected-error @below {{kv-block count of a mask must equal ceil(100 / 64): got 1, expected 2}}
func.func private @f(!sparseattn.mask<1x2x1, block = 64x64, tokens = 128x100>)

// -----

// (!mask C4)
// expected-error @below {{kv-block count of a mask must equal ceil(0 / 64): got 1, expected 0}}
func.func private @f(!sparseattn.mask<1x2x1, block = 64x64, tokens = 128x0>)

// -----

// (!mask C5)
// expected-error @below {{tiles of a mask: got 4096x1048576x1048576, expected fewer than 1099511627776}}
func.func private @f(!sparseattn.mask<4096x1048576x1048576, block = 1x1, tokens = 1048576x1048576>)

// -----

// (!mask C5)
// expected-error @below {{tiles of a mask: got 9223372036854775807x0x0, expected fewer than 1099511627776}}
func.func private @f(!sparseattn.mask<9223372036854775807x0x0, block = 1x1, tokens = 0x0>)

// -----

// (!mask C6)
// expected-error @below {{tokens of a mask must equal those of its order: got 128x64, expected 128x128}}
func.func private @f(!sparseattn.mask<1x2x1, block = 64x64, tokens = 128x64, order = <hilbert, grid = [2, 8, 8]>>)
