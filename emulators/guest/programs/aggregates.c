// Aggregates by value: every size around a register's, float aggregates of every length that a psABI treats apart
// (homogeneous ones of one to four members, complex, mixed). i386 returns all of them in memory and pops the hidden
// argument (ret $4); ELFv1 and ELFv2, o32 and n64 differ here.
#include "zoo.h"

#define BYTES(size)                                                          \
  struct bytes_##size {                                                      \
    unsigned char at[size];                                                  \
  };                                                                         \
  TRACED struct bytes_##size make_bytes_##size(unsigned seed) {              \
    struct bytes_##size made;                                                \
    for (unsigned i = 0; i < size; i++) made.at[i] = (unsigned char)(seed + 7 * i); \
    return made;                                                             \
  }                                                                          \
  TRACED unsigned sum_bytes_##size(int before, struct bytes_##size given, int after) { \
    unsigned sum = (unsigned)(before - after);                               \
    for (unsigned i = 0; i < size; i++) sum = sum * 3 + given.at[i];         \
    return sum;                                                              \
  }                                                                          \
  HELPER int right_bytes_##size(unsigned seed) {                             \
    struct bytes_##size made = make_bytes_##size(seed);                      \
    unsigned expected = 4;                                                   \
    for (unsigned i = 0; i < size; i++) expected = expected * 3 + (unsigned char)(seed + 7 * i); \
    return sum_bytes_##size(5, made, 1) == expected;                         \
  }

BYTES(1)
BYTES(2)
BYTES(3)
BYTES(4)
BYTES(7)
BYTES(8)
BYTES(9)
BYTES(16)
BYTES(17)
BYTES(33)

struct float_1 {
  float x;
};

struct float_3 {
  float x, y, z;
};

struct double_3 {
  double x, y, z;
};

struct double_4 {
  double x, y, z, w;
};

struct double_5 {
  double at[5];
};

struct float_and_int {
  float x;
  int n;
};

union either {
  double real;
  unsigned long long bits;
};

TRACED struct float_1 float_one(float x) { return (struct float_1){x * 2}; }

TRACED struct float_3 float_three(struct float_3 a) { return (struct float_3){a.z, a.x, a.y}; }

TRACED struct double_3 double_three(double x) { return (struct double_3){x, x * 2, x * 4}; }

TRACED struct double_4 double_four(struct double_4 a, struct double_4 b) {
  return (struct double_4){a.x + b.w, a.y + b.z, a.z + b.y, a.w + b.x};
}

TRACED struct double_5 double_five(double x) { return (struct double_5){{x, x + 1, x + 2, x + 3, x + 4}}; }

TRACED struct float_and_int float_int(struct float_and_int a) { return (struct float_and_int){a.x + 1, a.n - 1}; }

TRACED union either either_way(unsigned long long bits) { return (union either){.bits = bits}; }

TRACED _Complex double complex_turn(_Complex double z) { return __builtin_complex(-__imag__ z, __real__ z); }

TRACED _Complex float complex_float_turn(_Complex float z) { return __builtin_complex(-__imag__ z, __real__ z); }

// The result is built from two others, the hidden argument is alive over the calls.
TRACED struct double_5 aggregate_through(double x) {
  struct double_5 low = double_five(x);
  struct double_4 high = double_four((struct double_4){1, 2, 3, 4}, (struct double_4){x, x, x, x});
  low.at[4] += high.x + high.w;
  return low;
}

ZOO_PROGRAM(aggregates, 11) {
  unsigned seed = (unsigned)argument;
  CHECK(1, right_bytes_1(seed) && right_bytes_2(seed) && right_bytes_3(seed) && right_bytes_4(seed));
  CHECK(2, right_bytes_7(seed) && right_bytes_8(seed) && right_bytes_9(seed));
  CHECK(3, right_bytes_16(seed) && right_bytes_17(seed) && right_bytes_33(seed));
  CHECK(4, float_one(1.25f).x == 2.5f);
  struct float_3 f = float_three((struct float_3){1, 2, 3});
  CHECK(5, f.x == 3 && f.y == 1 && f.z == 2);
  struct double_3 d3 = double_three(1.5);
  CHECK(6, d3.x == 1.5 && d3.y == 3 && d3.z == 6);
  struct double_4 d4 = double_four((struct double_4){1, 2, 3, 4}, (struct double_4){10, 20, 30, 40});
  CHECK(7, d4.x == 41 && d4.y == 32 && d4.z == 23 && d4.w == 14);
  struct double_5 d5 = double_five(0.5);
  for (int i = 0; i < 5; i++) CHECK(8, d5.at[i] == 0.5 + i);
  struct float_and_int m = float_int((struct float_and_int){0.5f, 8});
  CHECK(9, m.x == 1.5f && m.n == 7);
  CHECK(10, either_way(0x3ff8000000000000ULL).real == 1.5);
  _Complex double z = complex_turn(__builtin_complex(3.0, 4.0));
  CHECK(11, __real__ z == -4 && __imag__ z == 3);
  _Complex float zf = complex_float_turn(__builtin_complex(1.0f, 2.0f));
  CHECK(12, __real__ zf == -2 && __imag__ zf == 1);
  d5 = aggregate_through(2);
  CHECK(13, d5.at[0] == 2 && d5.at[3] == 5 && d5.at[4] == 6 + 3 + 6);
  return 0;
}
