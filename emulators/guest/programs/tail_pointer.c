// Tail calls by pointer: a program of its own, because ppc64 has none (its caller must restore the TOC afterwards).
#include "zoo.h"

TRACED long target_double(long x) { return x * 2 + 1; }

TRACED long target_square(long x) { return TAIL_CALL(target_double(x * x)); }

TRACED long jump_by_pointer(long (*target)(long), long x) { return TAIL_CALL(target(x + 1)); }

static long (*const targets[])(long) = {target_double, target_square};

// The pointer comes from memory, and the argument stays in its place.
TRACED long jump_by_table(long x, unsigned index) { return TAIL_CALL(targets[index % 2](x)); }

ZOO_PROGRAM(tail_pointer, 3) {
  CHECK(1, jump_by_pointer(target_double, argument) == argument * 2 + 3);
  CHECK(2, jump_by_pointer(target_square, argument) == (argument + 1) * (argument + 1) * 2 + 1);
  CHECK(3, jump_by_table(argument, 0) == argument * 2 + 1 && jump_by_table(2, 1) == 9);
  return 0;
}
