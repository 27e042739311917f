// Nested functions (a GNU C extension): they find their outer frame by the static chain, a register that no other
// program has alive at an entry. Called directly only: a pointer to one needs an executable stack.
#include "zoo.h"

// Nested functions have no linkage of their own: one name for all tools, and global, so that the oracle sees it.
__asm__(".globl nested_step\n.globl nested_climb\n.globl nested_inner");

TRACED long nested_outer(long start, long count) {
  long total = start, steps = 0;
  auto long nested_step(long by) __asm__("nested_step");
  TRACED long nested_step(long by) {
    steps++;
    total += by;
    return total;
  }
  for (long i = 0; i < count; i++) nested_step(i);
  return total * 100 + steps;
}

// Recursion with a chain, and a function two levels down.
TRACED long nested_tower(long height) {
  long seen = 0;
  auto long nested_climb(long left) __asm__("nested_climb");
  TRACED long nested_climb(long left) {
    long here = left * 10;
    auto long nested_inner(long more) __asm__("nested_inner");
    TRACED long nested_inner(long more) {
      seen += 1;
      return here + more;
    }
    return left == 0 ? nested_inner(1) : nested_inner(2) + nested_climb(left - 1);
  }
  return nested_climb(height) * 100 + seen;
}

ZOO_PROGRAM(nested, 4) {
  CHECK(1, nested_outer(3, argument) == (3 + argument * (argument - 1) / 2) * 100 + argument);
  CHECK(2, nested_tower(2) == (10 * 2 + 2 + 10 + 2 + 1) * 100 + 3);
  return 0;
}
