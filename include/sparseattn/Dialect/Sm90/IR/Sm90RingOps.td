//===- Sm90RingOps.td - Shared memory between roles ----------*- tablegen -*-===//
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
  }];
  let arguments = (ins I64Attr:$offset, I64Attr:$barriers, I64Attr:$copies,
                       I64Attr:$copy_stride);
  let results = (outs Sm90_RingType:$ring);
  let assemblyFormat = [{
    `at` $offset `barriers` $barriers `copies` $copies `stride` $copy_stride
    attr-dict `:` type($ring)
  }];
}

def Sm90_MailboxOp : Sm90_Op<"mailbox", [HasParent<"KernelOp">]> {
  let summary = "Declares a mailbox, in `copies` copies";
  let arguments = (ins I64Attr:$offset, I64Attr:$barriers, I64Attr:$copies,
                       I64Attr:$copy_stride);
  let results = (outs Sm90_MailboxType:$mailbox);
  let assemblyFormat = [{
    `at` $offset `barriers` $barriers `copies` $copies `stride` $copy_stride
    attr-dict `:` type($mailbox)
  }];
}

def Sm90_CopyOp : Sm90_Op<"copy", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "Copy `index` of a ring or mailbox";
  let arguments = (ins AnyTypeOf<[Sm90_RingType, Sm90_MailboxType]>:$source,
                       I32:$index);
  let results = (outs AnyTypeOf<[Sm90_RingType, Sm90_MailboxType]>:$result);
  let assemblyFormat = "$source `[` $index `]` attr-dict `:` type($source)";
}

def Sm90_CursorOp : Sm90_Op<"cursor", [Pure]> {
  let summary = "Start of a ring, as the producer or as a consumer sees it";
  let arguments = (ins UnitAttr:$producer);
  let results = (outs Sm90_CursorType:$cursor);
  let assemblyFormat = [{
    (`producer` $producer^):(`consumer`)? attr-dict `:` type($cursor)
  }];
}

def Sm90_AdvanceOp : Sm90_Op<"advance",
    [Pure, AllTypesMatch<["cursor", "result"]>]> {
  let summary = "The cursor `by` slots later";
  let arguments = (ins Sm90_CursorType:$cursor, I64Attr:$by);
  let results = (outs Sm90_CursorType:$result);
  let assemblyFormat = "$cursor `by` $by attr-dict `:` type($cursor)";
}

def Sm90_LoadOp : Sm90_Op<"load"> {
  let summary = "Waits for the slot to be empty and loads a tile into it by TMA";
  let description = [{
    Boxes of 64 columns of tensor map `map` (rank 4: column, row, head, batch)
    from `row` on. One thread.
  }];
  let arguments = (ins Sm90_RingType:$ring, Sm90_CursorType:$cursor,
                       LLVM_AnyPointer:$map, I32:$row, I32:$head, I32:$batch);
  let assemblyFormat = [{
    $ring `[` $cursor `]` `from` $map `[` $row `,` $head `,` $batch `]`
    attr-dict `:` type($ring) `,` type($cursor) `,` type($map)
  }];
}

def Sm90_AwaitOp : Sm90_Op<"await"> {
  let summary = "Waits until the slot is full; its tile";
  let arguments = (ins Sm90_RingType:$ring, Sm90_CursorType:$cursor);
  let results = (outs Sm90_TileType:$tile);
  let assemblyFormat = [{
    $ring `[` $cursor `]` attr-dict
    `:` type($ring) `,` type($cursor) `->` type($tile)
  }];
}

def Sm90_ReleaseOp : Sm90_Op<"release"> {
  let summary = "Says that this warp reads the slot no more";
  let arguments = (ins Sm90_RingType:$ring, Sm90_CursorType:$cursor);
  let assemblyFormat = [{
    $ring `[` $cursor `]` attr-dict `:` type($ring) `,` type($cursor)
  }];
}

def Sm90_PostOp : Sm90_Op<"post"> {
  let summary = "Waits for the mailbox slot to be empty and posts four integers";
  let arguments = (ins Sm90_MailboxType:$mailbox, Sm90_CursorType:$cursor,
                       I32:$a, I32:$b, I32:$c, I32:$d);
  let assemblyFormat = [{
    $mailbox `[` $cursor `]` `,` $a `,` $b `,` $c `,` $d attr-dict
    `:` type($mailbox) `,` type($cursor)
  }];
}

def Sm90_FetchOp : Sm90_Op<"fetch"> {
  let summary = "Waits for a post, reads it (uniform), and releases its slot";
  let arguments = (ins Sm90_MailboxType:$mailbox, Sm90_CursorType:$cursor);
  let results = (outs I32:$a, I32:$b, I32:$c, I32:$d);
  let assemblyFormat = [{
    $mailbox `[` $cursor `]` attr-dict `:` type($mailbox) `,` type($cursor)
  }];
}

def Sm90_RowsOp : Sm90_Op<"rows", [Pure]> {
  let summary = "64 rows of a tile, from row 64 * `warpgroup` on";
  let arguments = (ins Sm90_TileType:$tile, I32:$warpgroup);
  let results = (outs Sm90_TileType:$result);
  let assemblyFormat = [{
    $tile `[` $warpgroup `]` attr-dict `:` type($tile) `->` type($result)
  }];
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90RINGOPS
