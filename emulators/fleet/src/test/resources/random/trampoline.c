// gcc calls a nested function by pointer through code that it writes on the stack.
#include "zoo.h"

// What gcc's code for a new trampoline may call in a C library: nothing is to be done in an emulator.
#define LIBRARY __attribute__((no_instrument_function, patchable_function_entry(0, 0)))
LIBRARY void __riscv_flush_icache(void *from, void *to, unsigned long flags) { (void)from, (void)to, (void)flags; }
LIBRARY void _flush_cache(char *from, int size, int which) { (void)from, (void)size, (void)which; }
LIBRARY void abort(void) { __builtin_trap(); }

typedef long (*step)(long);

TRACED long apply(step function, long count) {
  long sum = 0;
  for (long i = 0; i < count; i++) sum += function(i);
  return sum;
}

TRACED long outer(long base, long count) {
  long calls = 0;
  auto long inner(long x) __asm__("inner");
  TRACED long inner(long x) {
    calls++;
    return x > 2 ? base + apply(inner, x - 1) : base + x;
  }
  return apply(inner, count) * 100 + calls;
}

ZOO_PROGRAM(trampoline, 4) {
  CHECK(1, outer(3, argument) == 2206);
  CHECK(2, outer(5, argument) == 3406);
  return 0;
}
