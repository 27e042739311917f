// Tail calls: the callee takes over the frame, so the caller has no exit of its own. This file and tail_pointer.c
// alone are built with -foptimize-sibling-calls; tools/check-sites.sh proves that each TAIL_CALL became a jump.
#include "zoo.h"

TRACED long tail_leaf(long x) { return x * 2 + 1; }

TRACED long tail_last(long x) { return tail_leaf(x) + 1; }

TRACED long tail_second(long x) {
  long before = tail_leaf(x);
  return TAIL_CALL(tail_last(before + 1));
}

TRACED long tail_first(long x) { return TAIL_CALL(tail_second(x + 1)); }

// The callee's frame is far bigger than the caller's.
TRACED long tail_big_frame(long x) {
  volatile long room[64];
  for (int i = 0; i < 64; i++) room[i] = x + i;
  return tail_leaf(room[63]) + room[0];
}

TRACED long tail_to_big_frame(long x) { return TAIL_CALL(tail_big_frame(x)); }

TRACED long tail_from_big_frame(long x) {
  volatile long room[64];
  for (int i = 0; i < 64; i++) room[i] = x - i;
  long last = room[63] + tail_leaf(room[0]);
  return TAIL_CALL(tail_leaf(last));
}

TRACED long tail_pong(long left, long count);

TRACED long tail_ping(long left, long count) { return left == 0 ? count : TAIL_CALL(tail_pong(left - 1, count + 1)); }

TRACED long tail_pong(long left, long count) { return left == 0 ? -count : TAIL_CALL(tail_ping(left - 1, count + 1)); }

// One branch jumps, the other calls.
TRACED long tail_sometimes(long x) {
  if (x & 1) return TAIL_CALL(tail_last(x));
  return tail_last(x) + 1;
}

ZOO_PROGRAM(tail, 6) {
  CHECK(1, tail_first(1) == 14);
  CHECK(2, tail_to_big_frame(10) == 157);
  CHECK(3, tail_from_big_frame(70) == 297);
  CHECK(4, tail_ping(argument, 0) == (argument % 2 == 0 ? argument : -argument));
  CHECK(6, tail_sometimes(3) + tail_sometimes(4) == 8 + 11);
  CHECK(7, tail_leaf(2) == 5);
  return 0;
}
