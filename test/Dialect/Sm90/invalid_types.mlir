// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (!accumulator C1)
// expected-error@+1 {{columns: got 12, expected a multiple of 8 from 8 to 256}}
func.func private @f(!sa_sm90.accumulator<12>)

// -----

// (!accumulator C1)
// expected-error@+1 {{columns: got 264, expected a multiple of 8 from 8 to 256}}
func.func private @f(!sa_sm90.accumulator<264>)

// -----

// (!accumulator C1)
// expected-error@+1 {{columns: got 0, expected a multiple of 8 from 8 to 256}}
func.func private @f(!sa_sm90.accumulator<0>)

// -----

// (!operand C1)
// expected-error@+1 {{columns: got 24, expected a multiple of 16 from 16 to 256}}
func.func private @f(!sa_sm90.operand<24, bf16>)

// -----

// (!operand C2)
// expected-error@+1 {{element type: got 'f32', expected bf16 or f16}}
func.func private @f(!sa_sm90.operand<64, f32>)

// -----

// (!tile C1)
// expected-error@+1 {{rows: got 12, expected a multiple of 8 from 8 to 256}}
func.func private @f(!sa_sm90.tile<12, 64, box 64, bf16>)

// -----

// (!tile C2)
// expected-error@+1 {{columns: got 96, expected a multiple of 64 from 64 to 256}}
func.func private @f(!sa_sm90.tile<64, 96, box 64, bf16>)

// -----

// (!tile C3)
// expected-error@+1 {{rows of a box: got 32, expected a multiple of 8 from 64 to 256}}
func.func private @f(!sa_sm90.tile<64, 64, box 32, bf16>)

// -----

// (!tile C3)
// expected-error@+1 {{rows of a box: got 264, expected a multiple of 8 from 64 to 256}}
func.func private @f(!sa_sm90.tile<64, 64, box 264, bf16>)

// -----

// (!tile C4)
// expected-error@+1 {{element type: got 'i16', expected bf16 or f16}}
func.func private @f(!sa_sm90.tile<64, 64, box 64, i16>)

// -----

// (!ring C1)
// expected-error@+1 {{stages out of range: got 0, expected 1 to 64}}
func.func private @f(!sa_sm90.ring<0, <64, 64, box 64, bf16>, consumers 4>)

// -----

// (!ring C2)
// expected-error@+1 {{consumers out of range: got 33, expected 1 to 32}}
func.func private @f(!sa_sm90.ring<2, <64, 64, box 64, bf16>, consumers 33>)

// -----

// (!ring C3)
// expected-error@+1 {{rows of a box: got 128, expected the tile's 64}}
func.func private @f(!sa_sm90.ring<2, <64, 64, box 128, bf16>, consumers 4>)

// -----

// (!mailbox C1)
// expected-error@+1 {{stages out of range: got 65, expected 1 to 64}}
func.func private @f(!sa_sm90.mailbox<65, consumers 4>)

// -----

// (!mailbox C2)
// expected-error@+1 {{consumers out of range: got 0, expected 1 to 32}}
func.func private @f(!sa_sm90.mailbox<2, consumers 0>)

// -----

// (!cursor C1)
// expected-error@+1 {{stages out of range: got 0, expected 1 to 64}}
func.func private @f(!sa_sm90.cursor<0>)
