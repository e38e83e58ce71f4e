// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (scores C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    // expected-error@+1 {{'sa_sm90.scores' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %s = "sa_sm90.scores"(%a, %b) : (!sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (scores C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<128, 64, box 128, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    // expected-error@+1 {{'sa_sm90.scores' op rows of a: got 128, expected 64}}
    %s = "sa_sm90.scores"(%a, %b) : (!sa_sm90.tile<128, 64, box 128, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (scores C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    // expected-error@+1 {{'sa_sm90.scores' op tiles of b: got none, expected at least one}}
    %s = "sa_sm90.scores"(%a) : (!sa_sm90.tile<64, 64, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (scores C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 128, box 64, bf16>
    // expected-error@+1 {{'sa_sm90.scores' op b 0: got 128 columns of 'bf16', expected 64 of 'bf16'}}
    %s = "sa_sm90.scores"(%a, %b) : (!sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (scores C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, f16>
    // expected-error@+1 {{'sa_sm90.scores' op b 0: got 64 columns of 'f16', expected 64 of 'bf16'}}
    %s = "sa_sm90.scores"(%a, %b) : (!sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 64, box 64, f16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (scores C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    // expected-error@+1 {{'sa_sm90.scores' op columns of the result: got 64, expected the rows of all b, 128}}
    %s = "sa_sm90.scores"(%a, %b, %b) : (!sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (accumulate C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %i = builtin.unrealized_conversion_cast to !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.accumulate' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %s = "sa_sm90.accumulate"(%i, %a, %b) : (!sa_sm90.accumulator<64>, !sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (accumulate C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<128, 64, box 128, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %i = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.accumulate' op rows of a: got 128, expected 64}}
    %s = "sa_sm90.accumulate"(%i, %a, %b) : (!sa_sm90.accumulator<64>, !sa_sm90.tile<128, 64, box 128, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (accumulate C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %i = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.accumulate' op tiles of b: got none, expected at least one}}
    %s = "sa_sm90.accumulate"(%i, %a) : (!sa_sm90.accumulator<64>, !sa_sm90.tile<64, 64, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (accumulate C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 128, box 64, bf16>
    %i = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.accumulate' op b 0: got 128 columns of 'bf16', expected 64 of 'bf16'}}
    %s = "sa_sm90.accumulate"(%i, %a, %b) : (!sa_sm90.accumulator<64>, !sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (accumulate C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, f16>
    %i = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.accumulate' op b 0: got 64 columns of 'f16', expected 64 of 'bf16'}}
    %s = "sa_sm90.accumulate"(%i, %a, %b) : (!sa_sm90.accumulator<64>, !sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 64, box 64, f16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (accumulate C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %i = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.accumulate' op rows of all b: got 128, expected the columns of a, 64}}
    %s = "sa_sm90.accumulate"(%i, %a, %b, %b) : (!sa_sm90.accumulator<64>, !sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (accumulate C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %b = sa_sm90.scratch at 16384[%c0] : !sa_sm90.tile<24, 64, box 24, bf16>
    %i = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.accumulate' op rows of b 0: got 24, expected a multiple of 16}}
    %s = "sa_sm90.accumulate"(%i, %a, %b) : (!sa_sm90.accumulator<64>, !sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<24, 64, box 24, bf16>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (wait C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    // expected-error@+1 {{'sa_sm90.wait' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    "sa_sm90.wait"() {pending = 0 : i64} : () -> ()
  }
}

// -----

// (wait C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    // expected-error@+1 {{'sa_sm90.wait' op pending groups out of range: got 8, expected 0 to 7}}
    "sa_sm90.wait"() {pending = 8 : i64} : () -> ()
  }
}

// -----

// (wait C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.wait' op results: got ('!sa_sm90.accumulator<128>'), expected ('!sa_sm90.accumulator<64>')}}
    %y = sa_sm90.wait 0, %x : !sa_sm90.accumulator<64> -> !sa_sm90.accumulator<128>
  }
}

// -----

// (load_operand C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    // expected-error@+1 {{'sa_sm90.load_operand' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %o = sa_sm90.load_operand %t : !sa_sm90.tile<64, 64, box 64, bf16> -> !sa_sm90.operand<64, bf16>
  }
}

// -----

// (load_operand C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<128, 64, box 128, bf16>
    // expected-error@+1 {{'sa_sm90.load_operand' op rows of the tile: got 128, expected 64}}
    %o = sa_sm90.load_operand %t : !sa_sm90.tile<128, 64, box 128, bf16> -> !sa_sm90.operand<64, bf16>
  }
}

// -----

// (load_operand C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    // expected-error@+1 {{'sa_sm90.load_operand' op operand: got 128 columns of 'bf16', expected the tile's 64 of 'bf16'}}
    %o = sa_sm90.load_operand %t : !sa_sm90.tile<64, 64, box 64, bf16> -> !sa_sm90.operand<128, bf16>
  }
}

// -----

// (load_operand C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    // expected-error@+1 {{'sa_sm90.load_operand' op operand: got 64 columns of 'f16', expected the tile's 64 of 'bf16'}}
    %o = sa_sm90.load_operand %t : !sa_sm90.tile<64, 64, box 64, bf16> -> !sa_sm90.operand<64, f16>
  }
}

// -----

// (store_operand C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %id = arith.constant 1 : i32
    %o = builtin.unrealized_conversion_cast to !sa_sm90.operand<64, bf16>
    // expected-error@+1 {{'sa_sm90.store_operand' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    sa_sm90.store_operand %o, %t barrier %id : !sa_sm90.operand<64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>
  }
}

// -----

// (store_operand C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<128, 64, box 128, bf16>
    %id = arith.constant 1 : i32
    %o = builtin.unrealized_conversion_cast to !sa_sm90.operand<64, bf16>
    // expected-error@+1 {{'sa_sm90.store_operand' op rows of the tile: got 128, expected 64}}
    sa_sm90.store_operand %o, %t barrier %id : !sa_sm90.operand<64, bf16>, !sa_sm90.tile<128, 64, box 128, bf16>
  }
}

// -----

// (store_operand C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %id = arith.constant 1 : i32
    %o = builtin.unrealized_conversion_cast to !sa_sm90.operand<128, bf16>
    // expected-error@+1 {{'sa_sm90.store_operand' op operand: got 128 columns of 'bf16', expected the tile's 64 of 'bf16'}}
    sa_sm90.store_operand %o, %t barrier %id : !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>
  }
}

// -----

// (store_operand C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %id = arith.constant 16 : i32
    %o = builtin.unrealized_conversion_cast to !sa_sm90.operand<64, bf16>
    // expected-error@+1 {{'sa_sm90.store_operand' op named barrier out of range: got 16, expected 1 to 15}}
    sa_sm90.store_operand %o, %t barrier %id : !sa_sm90.operand<64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>
  }
}

// -----

// (scratch C1)
%c0 = arith.constant 0 : i32
// expected-error@+1 {{'sa_sm90.scratch' op place: got no enclosing sa_sm90.kernel, expected one}}
%t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>

// -----

// (scratch C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.scratch' op offset: got 512, expected a multiple of 1024}}
    %t = sa_sm90.scratch at 512[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
  }
}

// -----

// (scratch C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.scratch' op rows of a box: got 128, expected the tile's 64}}
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 128, bf16>
  }
}

// -----

// (scratch C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.scratch' op tile 0 of 8192 bytes at 58368: got an end outside shared memory, expected at most the kernel's 65536}}
    %t = sa_sm90.scratch at 58368[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
  }
}

// -----

// (scratch C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c8 = arith.constant 8 : i32
    // expected-error@+1 {{'sa_sm90.scratch' op tile 8 of 8192 bytes at 0: got an end outside shared memory, expected at most the kernel's 65536}}
    %t = sa_sm90.scratch at 0[%c8] : !sa_sm90.tile<64, 64, box 64, bf16>
  }
}
