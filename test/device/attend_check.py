#!/usr/bin/env python3
"""Checks attend kernels on a GPU against float64, on fresh random inputs.

usage: attend_check.py FOLDER NAME...         FOLDER: NAME.cubin and NAME.json
       attend_check.py FOLDER --same A B      A's outputs equal B's bit for bit
       attend_check.py FOLDER --repeat N A    N launches of A are bit-equal
       attend_check.py FOLDER --small A       small shapes, one launch each, for
                                              compute-sanitizer
       attend_check.py FOLDER --large A       many rows, many tiles

Outputs are NaN before each launch; every launch is repeated and compared bit
for bit; the shapes have tails, empty rows alone, in pairs and all, large and
one-sided scores, strided views and grouped heads. Prints a line a case; exit
status 1 if one fails.
"""

import math
import sys

import torch

from cuda import Kernel, order_tiles, to_lists

CASES = [
    # heads, kv heads, Sq, Skv, density, style
    (1, 1, 512, 512, 1.0, "plain"),
    (2, 2, 1024, 1024, 0.5, "empty"),
    (3, 3, 1, 1, 1.0, "plain"),
    (2, 2, 63, 65, 1.0, "plain"),
    (2, 2, 65, 63, 1.0, "plain"),
    (2, 2, 127, 129, 0.6, "plain"),
    (4, 2, 8423, 8423, 0.3, "empty"),
    (28, 7, 2048, 1000, 0.3, "empty"),
    (2, 2, 2048, 2048, 0.3, "all empty"),
    (4, 4, 4096, 4096, 0.3, "large"),
    (4, 4, 4096, 4096, 0.3, "huge"),
    (4, 4, 4000, 3001, 0.3, "negative"),
    (4, 4, 3000, 3000, 0.4, "strided"),
    (3, 3, 3000, 2999, 0.4, "packed"),
    (16, 16, 8192, 8192, 0.4, "empty"),
    (40, 40, 8192, 8192, 0.1, "empty"),
]

LARGE = [
    (1, 1, 299521, 2048, 0.3, "empty"),
    (64, 8, 70000, 512, 0.5, "empty"),  # more than 65,535 tiles of 64 rows
    (2, 2, 1000, 299521, 0.02, "empty"),
]
SMALL = [case for case in CASES if case[0] * case[2] * case[3] < 5e6]


def reference_tile(q, k, v, indices, block, scale):
    rows = (indices[:, None].long() * block +
            torch.arange(block, device=q.device)).reshape(-1)
    rows = rows[rows < k.shape[0]]
    if len(rows) == 0:
        return (torch.zeros_like(q, dtype=torch.float64),
                torch.full((q.shape[0],), -math.inf, dtype=torch.float64,
                           device=q.device))
    scores = q.double() @ k[rows].double().T * scale
    lse = torch.logsumexp(scores, -1)
    return torch.exp(scores - lse[:, None]) @ v[rows].double(), lse


def make_inputs(case, meta, generator, batch=1):
    heads, kv_heads, sq, skv, density, style = case
    dtype = torch.bfloat16 if meta["dtype"] == "bf16" else torch.float16
    dim = meta["head_dim"]

    def random(count, rows):
        shape = (batch, count, rows, dim)
        if style == "strided":  # BSHD
            return torch.randn(batch, rows, count, dim, device="cuda",
                               generator=generator).to(dtype).transpose(1, 2)
        if style == "packed":  # one of three in a row, at an offset
            whole = torch.randn(batch, rows + 5, 3, count, dim, device="cuda",
                                generator=generator).to(dtype)
            return whole[:, 5:, 1].transpose(1, 2)
        return torch.randn(shape, device="cuda", generator=generator).to(dtype)

    q, k, v = random(heads, sq), random(kv_heads, skv), random(kv_heads, skv)
    if style == "large":
        q = q * 10
    if style == "huge":  # magnitude 100 and more
        q = q * 30
    if style == "negative":  # every score far below zero
        q, k = q.abs() * 2, -k.abs()
    q_blocks = -(-sq // meta["block_q"])
    kv_blocks = -(-skv // meta["block_k"])
    mask = torch.rand(heads, q_blocks, kv_blocks, device="cuda",
                      generator=generator) < density
    if style == "empty":
        mask[0, 0] = False
        if q_blocks > 4:
            mask[0, 2:4] = False
            mask[-1, -1] = False
            mask[-1, 1] = False
            mask[-1, 1, -1] = True  # the partial block alone
            mask[0, 1] = False
            mask[0, 1, :2] = True
    if style == "all empty":
        mask[:] = False
    return q, k, v, mask


def launch_case(kernel, case, seed, repeats):
    """Inputs, outputs of the first launch, and how many others differed."""
    meta = kernel.meta
    generator = torch.Generator(device="cuda").manual_seed(seed)
    q, k, v, mask = make_inputs(case, meta, generator)
    heads, _, sq, _, _, style = case
    dim = meta["head_dim"]
    out_type = torch.float32 if meta["out_dtype"] == "f32" else q.dtype
    if style == "strided":
        o = torch.empty(1, sq, heads, dim, device="cuda",
                        dtype=out_type).transpose(1, 2)
    else:
        o = torch.empty(1, heads, sq, dim, device="cuda", dtype=out_type)
    lse = torch.empty(1, heads, sq, device="cuda")
    lists = to_lists(mask)
    tiles = order_tiles(lists)
    prepared = kernel.prepare(q, k, v, o, lse, lists, tiles)
    first = None
    different = 0
    for _ in range(repeats):
        o.fill_(math.nan)
        lse.fill_(math.nan)
        kernel.launch(prepared)
        torch.cuda.synchronize()
        if first is None:
            first = (o.clone(), lse.clone())
        elif not (torch.equal(first[0], o) and torch.equal(first[1], lse)):
            different += 1
    return (q, k, v, mask, lists), first, different


def run_case(kernel, case, seed, repeats):
    meta = kernel.meta
    inputs, first, different = launch_case(kernel, case, seed, repeats)
    q, k, v, mask, lists = inputs
    heads, kv_heads, sq, skv, _, style = case
    dim = meta["head_dim"]
    block_q = meta["block_q"]
    todo = [(h, b) for h in range(heads) for b in range(mask.shape[1])]
    if len(todo) > 160:
        todo = todo[:60] + todo[-60:] + todo[60:-60:max(1, len(todo) // 40)]
    squares = total = 0.0
    lse_error = 0.0
    empties = True
    for h, block in todo:
        rows = slice(block * block_q, min((block + 1) * block_q, sq))
        count = int(lists[h, block, 0])
        kv = h // (heads // kv_heads)
        want, want_lse = reference_tile(
            q[0, h, rows], k[0, kv], v[0, kv], lists[h, block, 1:1 + count],
            meta["block_k"], dim ** -0.5)
        got, got_lse = first[0][0, h, rows].double(), first[1][0, h, rows]
        if count == 0:
            empties &= bool((got == 0).all()) and bool(
                torch.isneginf(got_lse).all())
            continue
        squares += float(((got - want) ** 2).sum())
        total += float((want ** 2).sum())
        error = float((got_lse.double() - want_lse).abs().max())
        lse_error = error if math.isnan(error) else max(lse_error, error)
    relative = math.sqrt(squares / total) if total > 0 else 0.0
    finite = bool(torch.isfinite(first[0]).all())
    bound = 1e-2 if meta["dtype"] == "bf16" else 2e-3
    good = (relative < bound and lse_error < 2e-3 and empties and finite and
            different == 0)
    print(f"{'ok  ' if good else 'FAIL'} {kernel.name} H {heads}:{kv_heads} "
          f"S {sq}x{skv} {style}: rel {relative:.2e} lse {lse_error:.1e} "
          f"empty {empties} finite {finite} different {different}/{repeats}",
          flush=True)
    return good


def same(folder, left, right):
    kernels = [Kernel(folder, name) for name in (left, right)]
    failed = 0
    for number, case in enumerate(CASES):
        outputs = [launch_case(k, case, 17 + number, 1)[1] for k in kernels]
        equal = all(torch.equal(a, b) for a, b in zip(*outputs))
        failed += not equal
        print(f"{'ok  ' if equal else 'FAIL'} {left} = {right} {case}",
              flush=True)
    return failed


def repeat(folder, name, count):
    """Shapes with at least 4 tiles for each CTA."""
    kernel = Kernel(folder, name)
    failed = 0
    for number, case in enumerate([(40, 40, 4096, 4096, 0.3, "empty"),
                                   (24, 8, 8423, 8423, 0.2, "empty")]):
        different = launch_case(kernel, case, 99 + number, count)[2]
        failed += different != 0
        print(f"{'ok  ' if not different else 'FAIL'} {name} {case}: "
              f"{different} of {count} launches differ", flush=True)
    return failed


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    failed = 0
    if names[0] == "--same":
        sys.exit(1 if same(folder, names[1], names[2]) else 0)
    if names[0] == "--repeat":
        sys.exit(1 if repeat(folder, names[2], int(names[1])) else 0)
    cases, launches = CASES, 4
    if names[0] in ("--small", "--large"):
        cases, launches = (SMALL, 1) if names[0] == "--small" else (LARGE, 2)
        names = names[1:]
    for name in names:
        kernel = Kernel(folder, name)
        for number, case in enumerate(cases):
            try:
                failed += not run_case(kernel, case, 17 + number, launches)
            except Exception as error:  # a failed launch ends the context
                print(f"FAIL {name} {case}: {error}", flush=True)
                sys.exit(1)
    print(f"{failed} failed", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
