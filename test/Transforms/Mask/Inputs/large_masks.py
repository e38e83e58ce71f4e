"""Writes two random constant masks and checks their folded combinations."""

import argparse
import os
import random
import re

HEADS, BLOCKS = 12, 110
TILES = HEADS * BLOCKS * BLOCKS
MASK = f"!sparseattn.mask<{HEADS}x{BLOCKS}x{BLOCKS}, block = 128x128, tokens = 14040x14040>"
BITS = f"tensor<{HEADS}x{BLOCKS}x{BLOCKS}xi1>"


def random_mask(seed):
    generator = random.Random(seed)
    return sum(1 << i for i in range(TILES) if generator.random() < 0.4)


def to_hex(mask):
    return "0x" + mask.to_bytes((TILES + 7) // 8, "little").hex().upper()


def write(folder, a, b):
    text = ["!mask = " + MASK]
    for name in ("union", "intersect"):
        text.append(f"func.func @{name}() -> !mask {{")
        for value, mask in (("a", a), ("b", b)):
            text.append(
                f'  %{value} = sparseattn.explicit_mask dense<"{to_hex(mask)}"> : {BITS} -> !mask'
            )
        text.append(f"  %0 = sparseattn.{name} %a, %b : !mask\n  return %0 : !mask\n}}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "input.mlir"), "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")


def check(path, a, b):
    with open(path, encoding="utf-8") as file:
        got = re.findall(r'explicit_mask dense<"(0x[0-9A-F]+)">', file.read())
    for name, text, expected in zip(("union", "intersect"), got, (a | b, a & b), strict=True):
        verdict = "equal" if text == to_hex(expected) else "different"
        print(f"{name}: {verdict}, {bin(expected).count('1')} tiles")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--check")
    arguments = parser.parse_args()
    a, b = random_mask(1), random_mask(2)
    if arguments.check:
        check(arguments.check, a, b)
    else:
        write(arguments.folder, a, b)


if __name__ == "__main__":
    main()
