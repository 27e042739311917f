// A frame that gave way to a tail call, and one of the same function above it: on aarch64 a slot lies at the low end of
// its frame, so that the slot of the first, where nothing is any more, lies between those of the second and of whom that
// one gives way to. A regression test of RandomProgramsTest, which found it (seed 101, aarch64-mcount-O1).
#include "zoo.h"

TRACED unsigned gave_way_leaf(unsigned x) { return x * 3u + 1u; }

TRACED unsigned gave_way_last(unsigned x) { return gave_way_leaf(x) ^ 5u; }

TRACED unsigned gave_way_again(unsigned x, int left);

TRACED unsigned gave_way_big_frame(unsigned x, int left) {
  volatile unsigned room[64];
  for (unsigned i = 0; i < 64; i++) room[i] = x + i;
  x = gave_way_leaf(room[x & 15]);
  if (left == 0) return TAIL_CALL(gave_way_last(x));
  return TAIL_CALL(gave_way_again(x, left - 1));
}

TRACED unsigned gave_way_again(unsigned x, int left) { return gave_way_big_frame(x, left) ^ 7u; }

ZOO_PROGRAM(random, 0) {
  unsigned x = (unsigned)argument;
  for (int i = 0; i < 600; i++) x = gave_way_again(x, i & 7);  // a return address that is busy has a trampoline
  char line[9];
  for (int i = 0; i < 8; i++) line[i] = "0123456789abcdef"[x >> (28 - 4 * i) & 15];
  line[8] = '\n';
  zoo_write(1, line, 9);
  return 0;
}
