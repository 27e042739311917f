// Functions in several sections: calls cross from one to the other, both ways, also by jump-sized distances and
// through pointers. A tracer that reads only .text misses half of them.
#include "zoo.h"

#define FAR __attribute__((section("zoo_far_text")))
#define COLD __attribute__((section(".text.zoo_cold")))

TRACED long near_leaf(long x) { return x + 1; }

TRACED FAR long far_leaf(long x) { return x * 2; }

TRACED FAR long far_to_near(long x) { return near_leaf(x) * 3; }

TRACED COLD long cold_to_far(long x) { return far_to_near(x) + far_leaf(x); }

static long (*const far_table[])(long) = {near_leaf, far_leaf, far_to_near, cold_to_far};

TRACED FAR long far_by_pointer(long x) {
  long sum = 0;
  for (int i = 0; i < 4; i++) sum += far_table[i](x);
  return sum;
}

// Leaves early on one way, before any call: a leaf there, none on the other.
TRACED long early(long x) {
  if (x < 3) return -1;
  return far_to_near(x) + near_leaf(x);
}

ZOO_PROGRAM(sections, 2) {
  CHECK(1, far_to_near(argument) == (argument + 1) * 3 && cold_to_far(argument) == (argument + 1) * 3 + argument * 2);
  CHECK(2, far_by_pointer(argument) == (argument + 1) * 7 + argument * 4);
  CHECK(3, early(1) == -1 && early(5) == 24);
  return 0;
}
