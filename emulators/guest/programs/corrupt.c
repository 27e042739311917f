// Planted corruption: a function spoils the frame pointer that it saved for its caller. The frame-pointer test at
// its exit must report it; the runtime's helper mends the damage, so the program ends right.
#include "zoo.h"

TRACED long corrupt_leaf(long x) { return x + 7; }

TRACED long corrupt_frame(long x) {
  long result = corrupt_leaf(x) * 2;
  PLANT_WRONG_FRAME_POINTER();
  return result;
}

TRACED long corrupt_nothing(long x) { return corrupt_leaf(x) * 3; }

ZOO_PROGRAM(corrupt, 5) {
  volatile long mine = argument;
  CHECK(1, zoo_call_preserving_frame(corrupt_nothing, argument) == (argument + 7) * 3);
  CHECK(2, zoo_call_preserving_frame(corrupt_frame, argument) == (argument + 7) * 2);
  CHECK(3, mine == argument);
  CHECK(4, corrupt_nothing(argument) == (argument + 7) * 3);
  return 0;
}
