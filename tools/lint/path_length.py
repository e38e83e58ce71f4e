"""Paths inside the tree stay below 100 characters."""

import common

LIMIT_CHARACTERS = 100


def check(root):
    return [
        f"{path}: path length not below the limit: got {len(path)} characters, "
        f"expected at most {LIMIT_CHARACTERS - 1}"
        for path in common.source_files(root)
        if len(path) >= LIMIT_CHARACTERS
    ]


if __name__ == "__main__":
    common.main(check, __doc__)
