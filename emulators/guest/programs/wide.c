// 64-bit values: on 32-bit ISAs each takes two registers, in some only an even pair, or one and a stack word.
#include "zoo.h"

typedef unsigned long long wide;

struct wide_pair {
  wide high, low;
};

TRACED wide wide_make(unsigned high, unsigned low) { return (wide)high << 32 | low; }

TRACED unsigned wide_high(wide value) { return (unsigned)(value >> 32); }

// The word in front may push the pair to the next even register; the last pair lies on the stack.
TRACED wide wide_mix(int a, wide b, int c, wide d, wide e) { return b + (d ^ e) + (unsigned)(a - c); }

TRACED wide wide_multiply(wide left, unsigned right) { return left * right; }

TRACED long long wide_negate(long long value) { return -value; }

TRACED int wide_compare(long long left, long long right) { return (left > right) - (left < right); }

TRACED double wide_to_double(wide value) {
  return (double)(unsigned)(value >> 32) * 4294967296.0 + (double)(unsigned)value;
}

TRACED wide wide_between_doubles(double a, wide b, float c, wide d) { return b + d * 2 + (unsigned)(a + c); }

TRACED struct wide_pair wide_both(wide value) {
  return (struct wide_pair){wide_multiply(value, 3), ~value};
}

TRACED wide wide_fold(unsigned left, wide value) {
  return left == 0 ? value : wide_fold(left - 1, wide_multiply(value, 2654435761u) ^ wide_make(left, ~left));
}

ZOO_PROGRAM(wide, 5) {
  wide big = wide_make(0x01234567u, 0x89abcdefu);
  CHECK(1, big == 0x0123456789abcdefULL && wide_high(big) == 0x01234567u);
  CHECK(2, wide_mix(7, big, 3, 0xff00ff00ff00ff00ULL, 0x00ffff0000ffff00ULL) == big + 0xffff0000ffff0000ULL + 4);
  CHECK(3, wide_multiply(0x100000001ULL, 0x89abcdefu) == 0x89abcdef89abcdefULL);
  CHECK(4, wide_negate((long long)big) == -0x0123456789abcdefLL);
  CHECK(5, wide_compare(-1, 1) == -1 && wide_compare(0x100000000LL, 1) == 1 && wide_compare(5, 5) == 0);
  CHECK(6, wide_to_double(0x123400000567ULL) == 20014547600743.0);
  CHECK(7, wide_between_doubles(1.5, big, 2.5f, 0x80000000ULL) == big + 0x100000004ULL);
  struct wide_pair both = wide_both(big);
  CHECK(8, both.high == big * 3 && both.low == ~big);
  CHECK(9, argument != 5 || wide_fold((unsigned)argument, big) == 0xa43e5d16d74774a1ULL);
  return 0;
}
