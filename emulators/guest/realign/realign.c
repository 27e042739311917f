// Real miscompilation: a function that realigns its stack and needs a second pointer to its arguments copies its return
// address into the new frame. With -pg the counting function sees the copy at the slot's place: a hijack there would do
// nothing, so they are entered at their first instruction. gcc 12 does so on i386 for all of these, on x86_64 for the
// last two; with -mfentry never. tools/check-realign.sh finds the functions that copy; expected/*.missed has their names.
#include "zoo.h"

#include <stdarg.h>

// Lies in the second section of code: an empty one at the end of the text makes qemu-user 7.2 die.
TRACED __attribute__((section("zoo_far_text"))) long realign_touch(volatile long *room, long x) {
  room[0] = x;
  return room[0] + (long)((unsigned long)room % 64);
}

TRACED long realign_plain(long x) {
  volatile long room[8];
  return realign_touch(room, x) >= x;
}

TRACED long realign_local(long x) {
  _Alignas(64) volatile long room[8];
  return realign_touch(room, x);
}

TRACED __attribute__((force_align_arg_pointer)) long realign_forced(long x) {
  volatile long room[8];
  return realign_touch(room, x) >= x;
}

TRACED long realign_variadic(int count, ...) {
  _Alignas(64) volatile long room[8];
  va_list rest;
  va_start(rest, count);
  long sum = 0;
  for (int i = 0; i < count; i++) sum += va_arg(rest, long);
  va_end(rest);
  return realign_touch(room, sum);
}

TRACED long realign_alloca(long x) {
  _Alignas(64) volatile long room[8];
  volatile long *more = __builtin_alloca((unsigned long)x * sizeof(long));
  more[x - 1] = x;
  return realign_touch(room, more[x - 1]);
}

TRACED long realign_vla(long x) {
  _Alignas(64) volatile long room[8];
  volatile long more[x];
  more[x - 1] = x;
  return realign_touch(room, more[x - 1]);
}

// Calls all of them: what misses its exit must not take this one along.
TRACED long realign_all(long x) {
  return realign_local(x) + realign_forced(x) + realign_variadic(2, x, 1L) + realign_alloca(x) + realign_vla(x);
}

ZOO_PROGRAM(realign, 9) {
  CHECK(1, realign_plain(argument) == 1);
  CHECK(2, realign_local(argument) == argument);
  CHECK(3, realign_forced(argument) == 1);
  CHECK(4, realign_variadic(3, argument, 2L, 3L) == argument + 5);
  CHECK(5, realign_alloca(argument) == argument);
  CHECK(6, realign_vla(argument) == argument);
  CHECK(7, realign_all(argument) == 4 * argument + 2);
  return 0;
}
