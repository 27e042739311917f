// A function that returns a struct, called where a longjmp has left frames: on sparc it returns behind a word that says
// how long the struct is. A regression test of RandomProgramsTest, which found it (seed 58643392388799, sparc-mcount-O1).
#include "zoo.h"

static zoo_jmp_buf back;

struct three {
  unsigned x[3];
};

TRACED unsigned struct_leaf(unsigned x) { return x * 3u + 1u; }

TRACED struct three struct_made(unsigned x) {
  struct three made = {{struct_leaf(x), x, x ^ 5u}};
  return made;
}

TRACED void struct_leaves(unsigned x) {
  if (struct_leaf(x) != 0) zoo_longjmp(&back, 1);
}

TRACED void struct_below(unsigned x) {
  struct_leaves(x);
  struct_leaf(x);
}

TRACED unsigned struct_lands(unsigned x) {
  if (zoo_setjmp(&back) == 0) struct_below(x);
  struct three made = struct_made(x);
  return struct_leaf(made.x[0] ^ made.x[1] ^ made.x[2]);
}

ZOO_PROGRAM(random, 0) {
  unsigned x = (unsigned)argument;
  for (int i = 0; i < 9; i++) x = struct_lands(x);
  char line[9];
  for (int i = 0; i < 8; i++) line[i] = "0123456789abcdef"[x >> (28 - 4 * i) & 15];
  line[8] = '\n';
  zoo_write(1, line, 9);
  return 0;
}
