// A longjmp back to a function that pushes arguments for its next call: the slot of that call lies below the slot of the
// frame that died, as if the dead function had called it. Also where both are of one function, and where setjmp has more
// arguments on the stack than the function that died. A regression test of RandomProgramsTest, which found it (seed
// 269705977052129, x86_64-fentry-O3).
#include "zoo.h"

static zoo_jmp_buf pushed_place[4];
static int pushed_to;

TRACED unsigned pushed_leaf(unsigned x) { return x * 3u + 1u; }

TRACED unsigned pushed_many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned g, unsigned h,
                            unsigned i, unsigned j) {
  return pushed_leaf(a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j) + 5u;
}

TRACED void pushed_leap(void) {
  if (pushed_to >= 0) zoo_longjmp(&pushed_place[pushed_to], 1);
}

TRACED unsigned pushed_landing(unsigned x, int depth) {
  if (zoo_setjmp(&pushed_place[depth]) == 0) {
    if (depth < 3) pushed_landing(x, depth + 1);
    pushed_to = depth == 3 ? (int)(x >> 8 & 3) : depth;  // the innermost goes back to all of them in turn
    pushed_leap();
    x = 0;  // so that the oracle of blocks cannot take the jump for a return
  }
  x = pushed_many(x, x + 1u, x + 2u, x + 3u, x + 4u, x + 5u, x + 6u, x + 7u, x + 8u, x + 9u);
  return pushed_leaf(x) ^ 7u;
}

ZOO_PROGRAM(random, 0) {
  unsigned x = (unsigned)argument;
  for (unsigned i = 0; i < 64; i++) x ^= pushed_landing(x << 10 | i << 8, 0);
  char line[9];
  for (int i = 0; i < 8; i++) line[i] = "0123456789abcdef"[x >> (28 - 4 * i) & 15];
  line[8] = '\n';
  zoo_write(1, line, 9);
  return 0;
}
