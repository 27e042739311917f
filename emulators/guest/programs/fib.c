// Recursion: the same function open many times; a function's total must count it once.
#include "zoo.h"

TRACED unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

HELPER unsigned fib_by_loop(long n) {
  unsigned current = 0, next = 1;
  while (n-- > 0) {
    unsigned sum = current + next;
    current = next;
    next = sum;
  }
  return current;
}

ZOO_PROGRAM(fib, 6) {
  CHECK(1, argument <= 60);
  CHECK(2, fib((unsigned)argument) == fib_by_loop(argument));
  return 0;
}
