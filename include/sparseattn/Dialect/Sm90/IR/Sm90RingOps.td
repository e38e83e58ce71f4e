//===- Sm90RingOps.td - Shared memory between roles --------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90RINGOPS
#define SPARSEATTN_DIALECT_SM90_IR_SM90RINGOPS

include "sparseattn/Dialect/Sm90/IR/Sm90Base.td"

def Sm90_RingOp : Sm90_Op<"ring", [HasParent<"KernelOp">]> {
  let summary = "Declares a ring, in `copies` copies";
  let description = [{
    Copy `i` has its slots at `offset + i * copy_stride` and its barriers (full,
    then empty, 8 bytes each) at `barriers + i * copy_stride`, bytes from the
    start of dynamic shared memory. The barriers are initialised at the kernel's
    entry.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 32800 {
      %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0
          : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
    }
    ```

    **Constraints:**
    - (C1) copies lie between 1 and 8
    - (C2) offset, and the stride of several copies, are multiples of 1024
    - (C3) barriers are a multiple of 8
    - (C4) slots and barriers of all copies end within the shared memory of
      the kernel
  }];
  let arguments = (ins I64Attr:$offset, /*C2, C4*/
                       I64Attr:$barriers, /*C3, C4*/
                       I64Attr:$copies, /*C1*/
                       I64Attr:$copy_stride /*C2*/);
  let results = (outs Sm90_RingType:$ring);
  let assemblyFormat = [{
    `at` $offset `barriers` $barriers `copies` $copies `stride` $copy_stride
    attr-dict `:` type($ring)
  }];
  let hasVerifier = 1;
}

def Sm90_MailboxOp : Sm90_Op<"mailbox", [HasParent<"KernelOp">]> {
  let summary = "Declares a mailbox, in `copies` copies";
  let description = [{
    As a ring's, with slots of 16 bytes.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 64 {
      %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0
          : !sa_sm90.mailbox<2, consumers 4>
    }
    ```

    **Constraints:**
    - (C1) copies lie between 1 and 8
    - (C2) offset, and the stride of several copies, are multiples of 16
    - (C3) barriers are a multiple of 8
    - (C4) slots and barriers of all copies end within the shared memory of
      the kernel
  }];
  let arguments = (ins I64Attr:$offset, /*C2, C4*/
                       I64Attr:$barriers, /*C3, C4*/
                       I64Attr:$copies, /*C1*/
                       I64Attr:$copy_stride /*C2*/);
  let results = (outs Sm90_MailboxType:$mailbox);
  let assemblyFormat = [{
    `at` $offset `barriers` $barriers `copies` $copies `stride` $copy_stride
    attr-dict `:` type($mailbox)
  }];
  let hasVerifier = 1;
}

def Sm90_CopyOp : Sm90_Op<"copy", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "Copy `index` of a ring or mailbox";
  let description = [{
    The index is uniform across a warp.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 128 {
      %posts = sa_sm90.mailbox at 0 barriers 32 copies 2 stride 64
          : !sa_sm90.mailbox<2, consumers 4>
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %index = arith.constant 1 : i32
        %mine = sa_sm90.copy %posts[%index] : !sa_sm90.mailbox<2, consumers 4>
      }
    }
    ```

    **Constraints:**
    - (C1) the source is what a `ring` or `mailbox` declares
    - (C2) a constant index is one of the copies
  }];
  let arguments = (ins AnyTypeOf<[Sm90_RingType, Sm90_MailboxType]>:$source, /*C1*/
                       I32:$index /*C2*/);
  let results = (outs AnyTypeOf<[Sm90_RingType, Sm90_MailboxType]>:$result);
  let assemblyFormat = [{
    $source `[` $index `]` attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Sm90_CursorOp : Sm90_Op<"cursor", [Pure]> {
  let summary = "Start of a ring, as the producer or as a consumer sees it";
  let description = [{
    The producer finds all slots empty, a consumer waits for the first to be
    filled.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %here = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
      }
    }
    ```
  }];
  let arguments = (ins UnitAttr:$producer);
  let results = (outs Sm90_CursorType:$cursor);
  let assemblyFormat = [{
    (`producer` $producer^):(`consumer`)? attr-dict `:` type($cursor)
  }];
}

def Sm90_AdvanceOp : Sm90_Op<"advance", [Pure, AllTypesMatch<["cursor", "result"]>]> {
  let summary = "The cursor `by` slots later";
  let description = [{
    Nothing is waited for: a side moves its own cursor.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %here = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
        %next = sa_sm90.advance %here by 1 : !sa_sm90.cursor<2>
      }
    }
    ```

    **Constraints:**
    - (C1) `by` is at least 1
  }];
  let arguments = (ins Sm90_CursorType:$cursor, I64Attr:$by /*C1*/);
  let results = (outs Sm90_CursorType:$result);
  let assemblyFormat = [{
    $cursor `by` $by attr-dict `:` type($cursor)
  }];
  let hasVerifier = 1;
}

def Sm90_LoadOp : Sm90_Op<"load"> {
  let summary = "Waits for the slot to be empty and loads a tile into it by TMA";
  let description = [{
    Boxes of 64 columns of tensor map `map` (rank 4: column, row, head, batch)
    from `row` on. The slot is full when all its bytes have come; rows past the
    end of the tensor are zeros.

    ```mlir
    sa_sm90.kernel @example(%map: !llvm.ptr) threads 128 registers 168 shared 32800 {
      %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0
          : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
      sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
      ^bb0(%warp: i32, %lane: i32):
        %here = sa_sm90.cursor producer : !sa_sm90.cursor<2>
        %c0 = arith.constant 0 : i32
        sa_sm90.load %ring[%here] from %map[%c0, %c0, %c0]
            : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>,
              !sa_sm90.cursor<2>, !llvm.ptr
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of single threads
    - (C2) the cursor has the stages of what it points into
    - (C3) the map is a generic pointer
  }];
  let arguments = (ins Sm90_RingType:$ring,
                       Sm90_CursorType:$cursor, /*C2*/
                       LLVM_AnyPointer:$map, /*C3*/
                       I32:$row, I32:$head, I32:$batch);
  let assemblyFormat = [{
    $ring `[` $cursor `]` `from` $map `[` $row `,` $head `,` $batch `]`
    attr-dict `:` type($ring) `,` type($cursor) `,` type($map)
  }];
  let hasVerifier = 1;
}

def Sm90_AwaitOp : Sm90_Op<"await"> {
  let summary = "Waits until the slot is full; its tile";
  let description = [{
    The tile may be read until the slot is released.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 32800 {
      %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0
          : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %here = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
        %tile = sa_sm90.await %ring[%here]
            : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>,
              !sa_sm90.cursor<2> -> !sa_sm90.tile<64, 128, box 64, bf16>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warps
    - (C2) the cursor has the stages of what it points into
    - (C3) the tile is of the ring's type
  }];
  let arguments = (ins Sm90_RingType:$ring,
                       Sm90_CursorType:$cursor /*C2*/);
  let results = (outs Sm90_TileType:$tile /*C3*/);
  let assemblyFormat = [{
    $ring `[` $cursor `]` attr-dict
    `:` type($ring) `,` type($cursor) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def Sm90_ReleaseOp : Sm90_Op<"release"> {
  let summary = "Says that this warp reads the slot no more";
  let description = [{
    Once a warp and slot. What reads asynchronously must be complete: the
    product that read the tile, or that consumed fragments loaded from it, has
    been waited for (`sparseattn-verify-kernel` checks that).

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 32800 {
      %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0
          : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %here = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
        %tile = sa_sm90.await %ring[%here]
            : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>,
              !sa_sm90.cursor<2> -> !sa_sm90.tile<64, 128, box 64, bf16>
        sa_sm90.release %ring[%here]
            : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<2>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warps
    - (C2) the cursor has the stages of what it points into
  }];
  let arguments = (ins Sm90_RingType:$ring,
                       Sm90_CursorType:$cursor /*C2*/);
  let assemblyFormat = [{
    $ring `[` $cursor `]` attr-dict `:` type($ring) `,` type($cursor)
  }];
  let hasVerifier = 1;
}

def Sm90_PostOp : Sm90_Op<"post"> {
  let summary = "Waits for the mailbox slot to be empty and posts four integers";
  let description = [{
    Every consumer warp of the mailbox gets them.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 64 {
      %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0
          : !sa_sm90.mailbox<2, consumers 4>
      sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
      ^bb0(%warp: i32, %lane: i32):
        %here = sa_sm90.cursor producer : !sa_sm90.cursor<2>
        %c0 = arith.constant 0 : i32
        sa_sm90.post %posts[%here], %c0, %c0, %c0, %c0
            : !sa_sm90.mailbox<2, consumers 4>, !sa_sm90.cursor<2>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of single threads
    - (C2) the cursor has the stages of what it points into
  }];
  let arguments = (ins Sm90_MailboxType:$mailbox,
                       Sm90_CursorType:$cursor, /*C2*/
                       I32:$a, I32:$b, I32:$c, I32:$d);
  let assemblyFormat = [{
    $mailbox `[` $cursor `]` `,` $a `,` $b `,` $c `,` $d attr-dict
    `:` type($mailbox) `,` type($cursor)
  }];
  let hasVerifier = 1;
}

def Sm90_FetchOp : Sm90_Op<"fetch"> {
  let summary = "Waits for a post, reads it (uniform), and releases its slot";
  let description = [{
    The results are the same in all lanes of a warp.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 64 {
      %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0
          : !sa_sm90.mailbox<2, consumers 4>
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %here = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
        %post:4 = sa_sm90.fetch %posts[%here]
            : !sa_sm90.mailbox<2, consumers 4>, !sa_sm90.cursor<2>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warps
    - (C2) the cursor has the stages of what it points into
  }];
  let arguments = (ins Sm90_MailboxType:$mailbox,
                       Sm90_CursorType:$cursor /*C2*/);
  let results = (outs I32:$a, I32:$b, I32:$c, I32:$d);
  let assemblyFormat = [{
    $mailbox `[` $cursor `]` attr-dict `:` type($mailbox) `,` type($cursor)
  }];
  let hasVerifier = 1;
}

def Sm90_RowsOp : Sm90_Op<"rows", [Pure]> {
  let summary = "64 rows of a tile, from row 64 * `warpgroup` on";
  let description = [{
    The same memory: the result lives as long as the tile.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 16384 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %tile = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<128, 64, box 128, bf16>
        %mine = sa_sm90.rows %tile[%c1]
            : !sa_sm90.tile<128, 64, box 128, bf16> -> !sa_sm90.tile<64, 64, box 128, bf16>
      }
    }
    ```

    **Constraints:**
    - (C1) the tile's rows are a multiple of 64
    - (C2) the result has 64 rows and is otherwise as the tile
  }];
  let arguments = (ins Sm90_TileType:$tile, /*C1*/
                       I32:$warpgroup);
  let results = (outs Sm90_TileType:$result /*C2*/);
  let assemblyFormat = [{
    $tile `[` $warpgroup `]` attr-dict `:` type($tile) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90RINGOPS
