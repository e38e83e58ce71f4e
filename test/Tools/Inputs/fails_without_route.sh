#!/bin/sh
# Interesting to sparseattn-reduce (a status other than 0): modules that
# sparseattn-insert-plan refuses for the source of a mask.
sparseattn-opt "$1" --sparseattn-insert-plan 2>&1 |
  grep -q "source of the mask: got an argument" && exit 1
exit 0
