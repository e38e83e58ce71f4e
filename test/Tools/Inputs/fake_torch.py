"""Stands in for a Python with PyTorch: checks what torch_baseline.py would be
asked and answers with figures of its own."""

import json
import os
import sys

script, request, answer = sys.argv[1:]
assert os.path.basename(script) == "torch_baseline.py" and os.path.exists(script)
with open(request, encoding="utf-8") as file:
    asked = json.load(file)
assert (asked["preheat_ms"], asked["launches"], asked["sets"]) == (0, 1, 3), asked
matmul, cudnn, flex = asked["cases"]
assert matmul == {"kind": "matmul", "dtype": "bf16", "n": 16}, matmul
shape = {"dtype": "bf16", "heads": 2, "kv_heads": 2, "tokens": 65,
         "kv_tokens": 65, "head_dim": 64, "block_q": 64, "block_k": 64}
assert {**cudnn, "block_q": 64, "block_k": 64} == {"kind": "cudnn", **shape}
assert {**flex, "mask": ""} == {"kind": "flex", "mask": "", **shape}
with open(flex["mask"], "rb") as file:
    mask = file.read()


def row(ms):
    return {"median_ms": ms, "min_ms": ms, "max_ms": ms, "launches": 1,
            "spaced_ms": None}


with open(answer, "w", encoding="utf-8") as file:
    json.dump({"torch": "0.0", "rows": [
        row(2.0), row(4.0), {"error": f"RuntimeError: mask {mask.hex()}"}]}, file)
