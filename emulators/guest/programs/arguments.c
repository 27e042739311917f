// Arguments: more than the registers hold, integers and floats mixed; the entry hook must not touch one of them.
#include "zoo.h"

TRACED long weigh_ten(int a, long b, short c, long d, int e, long f, signed char g, long h, int i, long j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

TRACED double weigh_doubles(double a, float b, double c, float d, double e, double f, double g, double h, double i,
                            float j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

TRACED double weigh_mixed(int a, double b, long c, float d, int *e, double f) {
  *e += a;
  return a + 2 * b + 3 * (double)c + 4 * d + 6 * f;
}

struct small {
  int left, right;
};

struct large {
  long words[6];
};

TRACED long weigh_structs(struct small s, struct large l, int last) {
  long sum = s.left - s.right + last;
  for (int i = 0; i < 6; i++) sum += (i + 1) * l.words[i];
  return sum;
}

// Keeps its arguments over calls: they must come back from wherever the compiler put them.
TRACED long weigh_around_calls(long a, long b, double c) {
  int cell = 0;
  long first = weigh_ten(1, a, 1, b, 1, a, 1, b, 1, a);
  double second = weigh_mixed(2, c, a, 0.5f, &cell, c);
  return first + (long)second + a + b + (long)c + cell;
}

ZOO_PROGRAM(arguments, 1) {
  int cell = 40;
  struct small s = {9, 4};
  struct large l = {{1, 2, 3, 4, 5, (long)argument}};
  CHECK(1, weigh_ten(1, -2, 3, -4, 5, -6, 7, -8, 9, -10) == -55);
  CHECK(2, weigh_doubles(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 385.0);
  CHECK(3, weigh_mixed(2, 0.5, 3, 0.25f, &cell, 1.5) == 22.0 && cell == 42);
  CHECK(4, weigh_structs(s, l, 100) == 160 + 6 * argument);
  CHECK(5, weigh_around_calls(3, 4, 2.5) == 127 + 33 + 3 + 4 + 2 + 2);
  return 0;
}
