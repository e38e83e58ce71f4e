// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (kernel C1)
// expected-error@+1 {{'sa_sm90.kernel' op threads: got 96, expected a multiple of 128 from 128 to 1024}}
sa_sm90.kernel @k() threads 96 registers 168 shared 0 {
  %c0 = arith.constant 0 : i32
}

// -----

// (kernel C2)
// expected-error@+1 {{'sa_sm90.kernel' op entry registers of 384 threads: got 176, expected a multiple of 8 from 24 to 168}}
sa_sm90.kernel @k() threads 384 registers 176 shared 0 {
  %c0 = arith.constant 0 : i32
}

// -----

// (kernel C2)
// expected-error@+1 {{'sa_sm90.kernel' op entry registers of 128 threads: got 100, expected a multiple of 8 from 24 to 256}}
sa_sm90.kernel @k() threads 128 registers 100 shared 0 {
  %c0 = arith.constant 0 : i32
}

// -----

// (kernel C3)
// expected-error@+1 {{'sa_sm90.kernel' op shared bytes out of range: got 232449, expected 0 to 232448}}
sa_sm90.kernel @k() threads 128 registers 168 shared 232449 {
  %c0 = arith.constant 0 : i32
}

// -----

// (kernel C4)
// expected-error@+1 {{'sa_sm90.kernel' op argument type: got '!sa_sm90.cursor<2>', expected an integer, a float or a pointer}}
sa_sm90.kernel @k(%a: !sa_sm90.cursor<2>) threads 128 registers 168 shared 0 {
  %c0 = arith.constant 0 : i32
}

// -----

// (kernel C5)
// expected-error@+1 {{'sa_sm90.kernel' op results: got 1, expected none}}
sa_sm90.kernel @k() -> i32 threads 128 registers 168 shared 0 {
  %c0 = arith.constant 0 : i32
}

// -----

// (role C1)
sa_sm90.kernel @k() threads 256 registers 168 shared 0 {
  // expected-error@+1 {{'sa_sm90.role' op warps: got 3 from 6, expected at least one of the CTA's 8}}
  sa_sm90.role "a" warps 6 count 3 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
  }
}

// -----

// (role C1)
sa_sm90.kernel @k() threads 256 registers 168 shared 0 {
  // expected-error@+1 {{'sa_sm90.role' op warps: got 0 from 0, expected at least one of the CTA's 8}}
  sa_sm90.role "a" warps 0 count 0 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
  }
}

// -----

// (role C2)
sa_sm90.kernel @k() threads 256 registers 168 shared 0 {
  // expected-note@+1 {{the other role}}
  sa_sm90.role "a" warps 0 count 2 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
  }
  // expected-error@+1 {{'sa_sm90.role' op warps: got 1, which has role "a", expected warps without a role}}
  sa_sm90.role "b" warps 1 count 1 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
  }
}

// -----

// (role C3)
sa_sm90.kernel @k() threads 256 registers 168 shared 0 {
  // expected-error@+1 {{'sa_sm90.role' op warps: got 4 from 2, expected a part of one warpgroup of four, or whole ones}}
  sa_sm90.role "a" warps 2 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
  }
}

// -----

// (role C4)
sa_sm90.kernel @k() threads 256 registers 168 shared 0 {
  // expected-error@+1 {{'sa_sm90.role' op registers: got 20, expected a multiple of 8 from 24 to 256}}
  sa_sm90.role "a" warps 0 count 4 registers 20 {
  ^bb0(%warp: i32, %lane: i32):
  }
}

// -----

// (role C5)
sa_sm90.kernel @k() threads 256 registers 168 shared 0 {
  sa_sm90.role "a" warps 0 count 1 registers 40 {
  ^bb0(%warp: i32, %lane: i32):
  }
  // expected-error@+1 {{'sa_sm90.role' op registers: got 48, expected 40 as role "a" of the same warpgroup}}
  sa_sm90.role "b" warps 2 count 1 registers 48 {
  ^bb0(%warp: i32, %lane: i32):
  }
}

// -----

// (role C6)
sa_sm90.kernel @k() threads 256 registers 168 shared 0 {
  // expected-error@+1 {{'sa_sm90.role' op arguments of the body: got ('i32'), expected (i32, i32)}}
  sa_sm90.role "a" warps 0 count 1 registers 40 {
  ^bb0(%warp: i32):
  }
}

// -----

// (barrier_sync C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 1 : i32
    // expected-error@+1 {{'sa_sm90.barrier_sync' op place: got single_thread role "load", expected a role of whole warps}}
    sa_sm90.barrier_sync %id, 128
  }
}

// -----

// (barrier_sync C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 1 : i32
    // expected-error@+1 {{'sa_sm90.barrier_sync' op threads: got 256, expected a multiple of 32 from 32 to 128}}
    sa_sm90.barrier_sync %id, 256
  }
}

// -----

// (barrier_sync C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 1 : i32
    // expected-error@+1 {{'sa_sm90.barrier_sync' op threads: got 100, expected a multiple of 32 from 32 to 128}}
    sa_sm90.barrier_sync %id, 100
  }
}

// -----

// (barrier_sync C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.barrier_sync' op named barrier out of range: got 0, expected 1 to 15}}
    sa_sm90.barrier_sync %id, 128
  }
}

// -----

// (barrier_sync C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 16 : i32
    // expected-error@+1 {{'sa_sm90.barrier_sync' op named barrier out of range: got 16, expected 1 to 15}}
    sa_sm90.barrier_sync %id, 128
  }
}

// -----

// (barrier_arrive C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 1 : i32
    // expected-error@+1 {{'sa_sm90.barrier_arrive' op place: got single_thread role "load", expected a role of whole warps}}
    sa_sm90.barrier_arrive %id, 128
  }
}

// -----

// (barrier_arrive C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 1 : i32
    // expected-error@+1 {{'sa_sm90.barrier_arrive' op threads: got 256, expected a multiple of 32 from 32 to 128}}
    sa_sm90.barrier_arrive %id, 256
  }
}

// -----

// (barrier_arrive C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 1 : i32
    // expected-error@+1 {{'sa_sm90.barrier_arrive' op threads: got 100, expected a multiple of 32 from 32 to 128}}
    sa_sm90.barrier_arrive %id, 100
  }
}

// -----

// (barrier_arrive C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.barrier_arrive' op named barrier out of range: got 0, expected 1 to 15}}
    sa_sm90.barrier_arrive %id, 128
  }
}

// -----

// (barrier_arrive C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %id = arith.constant 16 : i32
    // expected-error@+1 {{'sa_sm90.barrier_arrive' op named barrier out of range: got 16, expected 1 to 15}}
    sa_sm90.barrier_arrive %id, 128
  }
}
