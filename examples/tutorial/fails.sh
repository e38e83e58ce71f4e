#!/bin/sh
# For sparseattn-reduce: status 1 when the module still fails in the way looked for.
! sparseattn-opt "$1" --sparseattn-insert-plan 2>&1 | grep -q "source of the mask"
