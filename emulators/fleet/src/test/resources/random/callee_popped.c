// A function whose result is in memory pops the address of that (i386). The caller's next calls are pushed above what is
// left, so the stack pointer is known only to those who know that. A regression test of RandomProgramsTest, which found it
// (seed 1, i386-fentry-O2-nofp).
#include "zoo.h"

struct words { unsigned word[7]; };

HELPER unsigned near(const void *address) {
  return (unsigned long)address - (unsigned long)zoo_write + 0x1000000ul < 0x2000000ul;
}

TRACED struct words popping(struct words v, int n) {
  v.word[n & 3] += (unsigned)n;
  return v;
}

TRACED unsigned plain(unsigned x, unsigned y, unsigned z) { return x * 3u + y * 5u + z; }

TRACED unsigned reading(unsigned x) {
  struct words v;
  for (unsigned i = 0; i < 7; i++) v.word[i] = x ^ i;
  v = popping(v, 5);
  x = plain(x, v.word[0], v.word[6]);
  x += near(__builtin_extract_return_addr(__builtin_return_address(0)));
  return plain(x, 1, 2) ^ 7u;
}

ZOO_PROGRAM(random, 0) {
  unsigned x = reading((unsigned)argument + 9u);
  char line[9];
  for (int i = 0; i < 8; i++) line[i] = "0123456789abcdef"[x >> (28 - 4 * i) & 15];
  line[8] = '\n';
  zoo_write(1, line, 9);
  return 0;
}
