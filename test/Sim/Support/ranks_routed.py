"""Routed layers over ranks: grouped heads, causal masks, few heads, few tokens."""

import sys

import numpy as np
from meshes import *

start(sys.argv)

top_p = "#sparseattn.top_p<p = 0.7, min_blocks = 1>"
arrays = skewed(12, 200, 32)
moves = case("routed", routed_layer(12, 200, 32, top_p, (16, 16)), arrays)
check(moves > 0, "no mesh of the routed layer moved a head")
case("routed, none", routed_layer(12, 200, 32, top_p, (16, 16)), arrays,
     "--balance", "none", meshes=[(3, 1), (2, 2)])
case("grouped, causal",
     routed_layer(6, 150, 40, top_p, (16, 24), kv_heads=2, skv=210, causal=True),
     skewed(6, 150, 40, 2, 210))
few = [(2, 1), (3, 2), (1, 4), (8, 1)]
case("few heads", routed_layer(2, 63, 32, "#sparseattn.top_k<k = 2>", (16, 16)),
     skewed(2, 63, 32), meshes=few)
case("few tokens", routed_layer(7, 3, 32, top_p, (16, 16)), skewed(7, 3, 32), meshes=few)
case("one token", routed_layer(7, 1, 32, top_p, (16, 16)), skewed(7, 1, 32), meshes=few)
case("dense", routed_layer(3, 70, 32, "#sparseattn.dense", (16, 16)), skewed(3, 70, 32),
     meshes=few)
print("ok")
