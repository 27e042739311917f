// longjmp: frames that end without an exit. The entries that follow come at the same, at a lower and at a higher
// stack position than the frames that died.
#include "zoo.h"

static zoo_jmp_buf place, outer_place;
static volatile long trail;

TRACED void leap_leaf(long digit) { trail = trail * 10 + digit; }

TRACED void leap_out(int value) {
  leap_leaf(1);
  zoo_longjmp(&place, value);
}

TRACED void leap_middle(int value) {
  leap_out(value);
  leap_leaf(9);
}

TRACED void leap_upper(int value) {
  leap_leaf(2);
  leap_middle(value);
  leap_leaf(9);
}

// Out of three frames; a sibling afterwards.
TRACED long leap_once(void) {
  trail = 0;
  int value = zoo_setjmp(&place);
  if (value == 0) {
    leap_upper(3);
    return -1;
  }
  leap_leaf(value);
  return trail;
}

// Again and again from the same depth: the same stack positions die and are used again.
TRACED long leap_loop(long rounds) {
  volatile long left = rounds;
  trail = 0;
  while (left > 0) {
    int value = zoo_setjmp(&place);
    if (value == 0) leap_middle(4);
    left = left - 1;
    leap_leaf(value);
  }
  return trail;
}

TRACED long leap_big_frame(long x) {
  volatile long room[128];
  for (int i = 0; i < 128; i++) room[i] = x + i;
  leap_leaf(5);
  return room[127] - room[0];
}

// The function called next has a bigger frame than the one that died at this depth.
TRACED long leap_then_big_frame(void) {
  trail = 0;
  if (zoo_setjmp(&place) == 0) leap_out(1);
  return leap_big_frame(trail);
}

TRACED void leap_out_of_big_frame(int value) {
  volatile long room[128];
  for (int i = 0; i < 128; i++) room[i] = i;
  leap_leaf(room[6]);
  zoo_longjmp(&place, value);
}

// The function called next has a smaller frame than the one that died.
TRACED long leap_then_small_frame(void) {
  trail = 0;
  if (zoo_setjmp(&place) == 0) leap_out_of_big_frame(1);
  leap_leaf(7);
  return trail;
}

// The frame that died is the last thing before the setjmp function's own exit.
TRACED long leap_then_return(void) {
  trail = 0;
  if (zoo_setjmp(&place) == 0) leap_middle(1);
  return trail;
}

TRACED void leap_past_inner(void) {
  if (zoo_setjmp(&place) == 0) leap_upper(1);
  zoo_longjmp(&outer_place, 8);
}

// Two places: a jump to the inner one, then from there to the outer one.
TRACED long leap_nested(void) {
  trail = 0;
  int value = zoo_setjmp(&outer_place);
  if (value == 0) leap_past_inner();
  leap_leaf(value);
  return trail;
}

// A jump within one frame: nothing dies.
TRACED long leap_nowhere(void) {
  volatile long count = 0;
  trail = 0;
  int value = zoo_setjmp(&place);
  count = count + 1;
  leap_leaf(count);
  if (value < 2) zoo_longjmp(&place, value + 1);
  return trail;
}

ZOO_PROGRAM(longjmp, 5) {
  long expected = 0;
  for (long i = 0; i < argument; i++) expected = expected * 100 + 14;
  CHECK(1, leap_once() == 213);
  CHECK(2, argument > 9 || leap_loop(argument) == expected);
  CHECK(3, leap_then_big_frame() == 127);
  CHECK(4, leap_then_small_frame() == 67);
  CHECK(5, leap_then_return() == 1);
  CHECK(6, leap_nested() == 218);
  CHECK(7, leap_nowhere() == 123);
  return 0;
}
