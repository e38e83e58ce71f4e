// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (ring C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  // expected-error@+1 {{'sa_sm90.ring' op copies out of range: got 0, expected 1 to 8}}
  %ring = sa_sm90.ring at 0 barriers 32768 copies 0 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
}

// -----

// (ring C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  // expected-error@+1 {{'sa_sm90.ring' op offset: got 512, expected a multiple of 1024}}
  %ring = sa_sm90.ring at 512 barriers 40960 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
}

// -----

// (ring C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  // expected-error@+1 {{'sa_sm90.ring' op stride of the copies: got 100, expected a multiple of 1024}}
  %ring = sa_sm90.ring at 0 barriers 32768 copies 2 stride 100 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
}

// -----

// (ring C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  // expected-error@+1 {{'sa_sm90.ring' op offset of the barriers: got 32772, expected a multiple of 8}}
  %ring = sa_sm90.ring at 0 barriers 32772 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
}

// -----

// (ring C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  // expected-error@+1 {{'sa_sm90.ring' op end in shared memory: got 66560, expected at most the kernel's 65536}}
  %ring = sa_sm90.ring at 33792 barriers 0 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
}

// -----

// (ring C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  // expected-error@+1 {{'sa_sm90.ring' op end in shared memory: got 65544, expected at most the kernel's 65536}}
  %ring = sa_sm90.ring at 0 barriers 65512 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
}

// -----

// (ring C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  // expected-error@+1 {{'sa_sm90.ring' op end in shared memory: got 66592, expected at most the kernel's 65536}}
  %ring = sa_sm90.ring at 0 barriers 32768 copies 2 stride 33792 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
}

// -----

// (ring C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  // expected-error@+1 {{'sa_sm90.ring' op end in shared memory: got more than 9223372036854774784, expected at most the kernel's 65536}}
  %ring = sa_sm90.ring at 0 barriers 32768 copies 8 stride 9223372036854774784 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
}

// -----

// (mailbox C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 64 {
  // expected-error@+1 {{'sa_sm90.mailbox' op copies out of range: got 9, expected 1 to 8}}
  %posts = sa_sm90.mailbox at 0 barriers 32 copies 9 stride 16 : !sa_sm90.mailbox<2, consumers 4>
}

// -----

// (mailbox C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 64 {
  // expected-error@+1 {{'sa_sm90.mailbox' op offset: got 8, expected a multiple of 16}}
  %posts = sa_sm90.mailbox at 8 barriers 0 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
}

// -----

// (mailbox C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 64 {
  // expected-error@+1 {{'sa_sm90.mailbox' op offset of the barriers: got 36, expected a multiple of 8}}
  %posts = sa_sm90.mailbox at 0 barriers 36 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
}

// -----

// (mailbox C4)
sa_sm90.kernel @k() threads 128 registers 168 shared 64 {
  // expected-error@+1 {{'sa_sm90.mailbox' op end in shared memory: got 80, expected at most the kernel's 64}}
  %posts = sa_sm90.mailbox at 48 barriers 0 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
}

// -----

// (copy C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %a = sa_sm90.copy %posts[%c0] : !sa_sm90.mailbox<2, consumers 4>
    // expected-error@+1 {{'sa_sm90.copy' op source: got sa_sm90.copy, expected sa_sm90.ring or sa_sm90.mailbox}}
    %b = sa_sm90.copy %a[%c0] : !sa_sm90.mailbox<2, consumers 4>
  }
}

// -----

// (copy C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c1 = arith.constant 1 : i32
    // expected-error@+1 {{'sa_sm90.copy' op index out of range: got 1, expected 0 to 0}}
    %a = sa_sm90.copy %posts[%c1] : !sa_sm90.mailbox<2, consumers 4>
  }
}

// -----

// (advance C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %a = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
    // expected-error@+1 {{'sa_sm90.advance' op number of slots out of range: got 0, expected 1 to 1048576}}
    %b = sa_sm90.advance %a by 0 : !sa_sm90.cursor<2>
  }
}

// -----

// (load C1)
sa_sm90.kernel @k(%map: !llvm.ptr) threads 128 registers 168 shared 65536 {
  %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<2>
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.load' op place: got role "attend" of whole warps, expected a single_thread role}}
    sa_sm90.load %ring[%at] from %map[%c0, %c0, %c0] : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<2>, !llvm.ptr
  }
}

// -----

// (load C2)
sa_sm90.kernel @k(%map: !llvm.ptr) threads 128 registers 168 shared 65536 {
  %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<3>
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.load' op stages of the cursor: got 3, expected 2}}
    sa_sm90.load %ring[%at] from %map[%c0, %c0, %c0] : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<3>, !llvm.ptr
  }
}

// -----

// (load C3)
sa_sm90.kernel @k(%map: !llvm.ptr<1>) threads 128 registers 168 shared 65536 {
  %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<2>
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.load' op address space of the map: got 1, expected 0}}
    sa_sm90.load %ring[%at] from %map[%c0, %c0, %c0] : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<2>, !llvm.ptr<1>
  }
}

// -----

// (await C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
    // expected-error@+1 {{'sa_sm90.await' op place: got single_thread role "load", expected a role of whole warps}}
    %t = sa_sm90.await %ring[%at] : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<2> -> !sa_sm90.tile<64, 128, box 64, bf16>
  }
}

// -----

// (await C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<3>
    // expected-error@+1 {{'sa_sm90.await' op stages of the cursor: got 3, expected 2}}
    %t = sa_sm90.await %ring[%at] : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<3> -> !sa_sm90.tile<64, 128, box 64, bf16>
  }
}

// -----

// (await C3)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
    // expected-error@+1 {{'sa_sm90.await' op tile: got '!sa_sm90.tile<64, 64, box 64, bf16>', expected '!sa_sm90.tile<64, 128, box 64, bf16>'}}
    %t = sa_sm90.await %ring[%at] : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<2> -> !sa_sm90.tile<64, 64, box 64, bf16>
  }
}

// -----

// (release C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
    // expected-error@+1 {{'sa_sm90.release' op place: got single_thread role "load", expected a role of whole warps}}
    sa_sm90.release %ring[%at] : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<2>
  }
}

// -----

// (release C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0 : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<3>
    // expected-error@+1 {{'sa_sm90.release' op stages of the cursor: got 3, expected 2}}
    sa_sm90.release %ring[%at] : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<3>
  }
}

// -----

// (post C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<2>
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.post' op place: got role "attend" of whole warps, expected a single_thread role}}
    sa_sm90.post %posts[%at], %c0, %c0, %c0, %c0 : !sa_sm90.mailbox<2, consumers 4>, !sa_sm90.cursor<2>
  }
}

// -----

// (post C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<3>
    %c0 = arith.constant 0 : i32
    // expected-error@+1 {{'sa_sm90.post' op stages of the cursor: got 3, expected 2}}
    sa_sm90.post %posts[%at], %c0, %c0, %c0, %c0 : !sa_sm90.mailbox<2, consumers 4>, !sa_sm90.cursor<3>
  }
}

// -----

// (fetch C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
    // expected-error@+1 {{'sa_sm90.fetch' op place: got single_thread role "load", expected a role of whole warps}}
    %p:4 = sa_sm90.fetch %posts[%at] : !sa_sm90.mailbox<2, consumers 4>, !sa_sm90.cursor<2>
  }
}

// -----

// (fetch C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<3>
    // expected-error@+1 {{'sa_sm90.fetch' op stages of the cursor: got 3, expected 2}}
    %p:4 = sa_sm90.fetch %posts[%at] : !sa_sm90.mailbox<2, consumers 4>, !sa_sm90.cursor<3>
  }
}

// -----

// (rows C1)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<96, 64, box 96, bf16>
    // expected-error@+1 {{'sa_sm90.rows' op rows of the tile: got 96, expected a multiple of 64}}
    %r = sa_sm90.rows %t[%c0] : !sa_sm90.tile<96, 64, box 96, bf16> -> !sa_sm90.tile<64, 64, box 96, bf16>
  }
}

// -----

// (rows C2)
sa_sm90.kernel @k() threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<128, 64, box 128, bf16>
    // expected-error@+1 {{'sa_sm90.rows' op result: got '!sa_sm90.tile<64, 64, box 64, bf16>', expected '!sa_sm90.tile<64, 64, box 128, bf16>'}}
    %r = sa_sm90.rows %t[%c0] : !sa_sm90.tile<128, 64, box 128, bf16> -> !sa_sm90.tile<64, 64, box 64, bf16>
  }
}
