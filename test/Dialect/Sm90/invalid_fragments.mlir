// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (zero C1)
// expected-error@+1 {{'sa_sm90.zero' op place: got no enclosing sa_sm90.role, expected one}}
%z = sa_sm90.zero : !sa_sm90.accumulator<64>

// -----

// (zero C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    // expected-error@+1 {{'sa_sm90.zero' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %z = sa_sm90.zero : !sa_sm90.accumulator<64>
  }
}

// -----

// (row_max C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = builtin.unrealized_conversion_cast to !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.row_max' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %m:2 = sa_sm90.row_max %x : !sa_sm90.accumulator<64>
  }
}

// -----

// (row_sum C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = builtin.unrealized_conversion_cast to !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.row_sum' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %m:2 = sa_sm90.row_sum %x : !sa_sm90.accumulator<64>
  }
}

// -----

// (quad_sum C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %one = arith.constant 1.0 : f32
    // expected-error@+1 {{'sa_sm90.quad_sum' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %m = sa_sm90.quad_sum %one
  }
}

// -----

// (exp2 C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = builtin.unrealized_conversion_cast to !sa_sm90.accumulator<64>
    %one = arith.constant 1.0 : f32
    // expected-error@+1 {{'sa_sm90.exp2' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %m = sa_sm90.exp2 %x, %one, %one, %one : !sa_sm90.accumulator<64>
  }
}

// -----

// (scale_rows C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = builtin.unrealized_conversion_cast to !sa_sm90.accumulator<64>
    %one = arith.constant 1.0 : f32
    // expected-error@+1 {{'sa_sm90.scale_rows' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %m = sa_sm90.scale_rows %x, %one, %one : !sa_sm90.accumulator<64>
  }
}

// -----

// (mask_columns C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = builtin.unrealized_conversion_cast to !sa_sm90.accumulator<64>
    %l = arith.constant 40 : i32
    // expected-error@+1 {{'sa_sm90.mask_columns' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %m = sa_sm90.mask_columns %x, %l : !sa_sm90.accumulator<64>
  }
}

// -----

// (mask_columns C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = sa_sm90.zero : !sa_sm90.accumulator<64>
    %l = arith.constant 40 : i32
    // expected-error@+1 {{'sa_sm90.mask_columns' op limits: got 3 for 64 columns, expected equal parts of multiples of 8}}
    %m = sa_sm90.mask_columns %x, %l, %l, %l : !sa_sm90.accumulator<64>
  }
}

// -----

// (mask_columns C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.mask_columns' op limits: got 0 for 64 columns, expected equal parts of multiples of 8}}
    %m = "sa_sm90.mask_columns"(%x) : (!sa_sm90.accumulator<64>) -> !sa_sm90.accumulator<64>
  }
}

// -----

// (to_operand C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = builtin.unrealized_conversion_cast to !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.to_operand' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    %m = sa_sm90.to_operand %x : !sa_sm90.accumulator<64> -> !sa_sm90.operand<64, bf16>
  }
}

// -----

// (to_operand C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = sa_sm90.zero : !sa_sm90.accumulator<64>
    // expected-error@+1 {{'sa_sm90.to_operand' op columns of the result: got 128, expected the source's 64}}
    %m = sa_sm90.to_operand %x : !sa_sm90.accumulator<64> -> !sa_sm90.operand<128, bf16>
  }
}

// -----

// (store_rows C1)
sa_sm90.kernel @k(%out: !llvm.ptr<1>) threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = builtin.unrealized_conversion_cast to !sa_sm90.accumulator<64>
    %n = arith.constant 64 : i32
    %s = arith.constant 64 : i64
    // expected-error@+1 {{'sa_sm90.store_rows' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    sa_sm90.store_rows %x, %out stride %s valid %n as bf16 : !sa_sm90.accumulator<64>, !llvm.ptr<1>
  }
}

// -----

// (store_rows C2)
sa_sm90.kernel @k(%out: !llvm.ptr<1>) threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = sa_sm90.zero : !sa_sm90.accumulator<64>
    %n = arith.constant 64 : i32
    %s = arith.constant 64 : i64
    // expected-error@+1 {{'sa_sm90.store_rows' op element: got 'f64', expected f32, bf16 or f16}}
    sa_sm90.store_rows %x, %out stride %s valid %n as f64 : !sa_sm90.accumulator<64>, !llvm.ptr<1>
  }
}

// -----

// (store_rows C3)
sa_sm90.kernel @k(%out: !llvm.ptr<1>) threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = sa_sm90.zero : !sa_sm90.accumulator<48>
    %n = arith.constant 64 : i32
    %s = arith.constant 64 : i64
    // expected-error@+1 {{'sa_sm90.store_rows' op columns: got 48, expected a multiple of 32}}
    sa_sm90.store_rows %x, %out stride %s valid %n as bf16 : !sa_sm90.accumulator<48>, !llvm.ptr<1>
  }
}

// -----

// (store_row_values C1)
sa_sm90.kernel @k(%out: !llvm.ptr<1>) threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %one = arith.constant 1.0 : f32
    %n = arith.constant 64 : i32
    %s = arith.constant 64 : i64
    // expected-error@+1 {{'sa_sm90.store_row_values' op place: got role "attend" of 2 warps from 0, expected whole warpgroups of four}}
    sa_sm90.store_row_values %one, %one, %out valid %n : !llvm.ptr<1>
  }
}
