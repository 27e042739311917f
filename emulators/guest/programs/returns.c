// Results: every way a value comes back (integer, pair, float, double, small and large struct, vector-like
// aggregate); the exit hook must not touch one of the registers.
#include "zoo.h"

struct pair {
  long first, second;
};

struct halves {
  int low, high;
};

struct mixed {
  long count;
  double mean;
};

struct two_doubles {
  double real, imaginary;
};

struct four_floats {
  float x, y, z, w;
};

struct large {
  long words[12];
};

TRACED signed char return_char(int x) { return (signed char)(x - 200); }

TRACED int return_int(int x) { return x * -3; }

TRACED unsigned long return_long(unsigned long x) { return x * 0x10001UL; }

TRACED unsigned long long return_wide(unsigned x) { return x * 0x100000001ULL; }

TRACED float return_float(float x) { return x * 0.5f; }

TRACED double return_double(double x) { return x * 0.25 + 1; }

TRACED struct pair return_pair(long x) { return (struct pair){x + 1, -x}; }

TRACED struct halves return_halves(int x) { return (struct halves){x, ~x}; }

TRACED struct mixed return_mixed(long x) { return (struct mixed){x, (double)x / 2}; }

TRACED struct two_doubles return_two_doubles(double x) { return (struct two_doubles){x, -2 * x}; }

TRACED struct four_floats return_four_floats(float x) { return (struct four_floats){x, x + 1, x + 2, x + 3}; }

TRACED struct large return_large(long x) {
  struct large result;
  for (int i = 0; i < 12; i++) result.words[i] = x + i;
  return result;
}

TRACED void return_nothing(long *cell) { *cell += 1; }

// A result that travels through two frames, with a call between its birth and its return.
TRACED struct pair return_through(long x) {
  struct pair inner = return_pair(x);
  inner.second += (long)return_double(4);
  return inner;
}

ZOO_PROGRAM(returns, 7) {
  long cell = argument;
  CHECK(1, return_char(100) == -100);
  CHECK(2, return_int(14) == -42);
  CHECK(3, return_long(0x89abUL) == 0x89ab89abUL);
  CHECK(14, return_wide(0x89abcdefU) == 0x89abcdef89abcdefULL);
  CHECK(4, return_float(7.0f) == 3.5f);
  CHECK(5, return_double(10) == 3.5);
  struct pair p = return_pair(41);
  CHECK(6, p.first == 42 && p.second == -41);
  struct halves h = return_halves(5);
  CHECK(7, h.low == 5 && h.high == -6);
  struct mixed m = return_mixed(9);
  CHECK(8, m.count == 9 && m.mean == 4.5);
  struct two_doubles t = return_two_doubles(1.5);
  CHECK(9, t.real == 1.5 && t.imaginary == -3.0);
  struct four_floats f = return_four_floats(0.5f);
  CHECK(10, f.x == 0.5f && f.y == 1.5f && f.z == 2.5f && f.w == 3.5f);
  struct large l = return_large(100);
  for (int i = 0; i < 12; i++) CHECK(11, l.words[i] == 100 + i);
  return_nothing(&cell);
  CHECK(12, cell == argument + 1);
  p = return_through(10);
  CHECK(13, p.first == 11 && p.second == -8);
  return 0;
}
