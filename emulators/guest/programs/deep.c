// Depth: thousands of open frames; each checks after its exit that its own frame is untouched.
#include "zoo.h"

TRACED long deep_bottom(long seed) { return seed * 3 + 1; }

TRACED long deep_down(long left, long seed) {
  volatile long mine[4] = {left, seed, ~left, ~seed};
  long below = left == 0 ? deep_bottom(seed) : deep_down(left - 1, seed + left);
  if (mine[0] != left || mine[1] != seed || mine[2] != ~left || mine[3] != ~seed) return -1000000;
  return below + 1;
}

ZOO_PROGRAM(deep, 3000) {
  long seed = argument * (argument + 1) / 2;
  CHECK(1, deep_down(argument, 0) == seed * 3 + 1 + argument + 1);
  CHECK(2, deep_down(1, 5) == 6 * 3 + 1 + 2);
  return 0;
}
