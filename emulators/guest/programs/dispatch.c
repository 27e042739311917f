// Function pointers: callees chosen at run time from a table, passed as an argument, and returned as a result.
#include "zoo.h"

typedef unsigned (*operation)(unsigned value, unsigned round);

TRACED unsigned dispatch_add(unsigned value, unsigned round) { return value + round; }

TRACED unsigned dispatch_mix(unsigned value, unsigned round) { return (value ^ round) * 2654435761u; }

TRACED unsigned dispatch_rotate(unsigned value, unsigned round) {
  unsigned count = round % 31 + 1;
  return value << count | value >> (32 - count);
}

TRACED unsigned dispatch_twice(unsigned value, unsigned round);

static const operation table[4] = {dispatch_add, dispatch_mix, dispatch_rotate, dispatch_twice};

TRACED operation dispatch_pick(unsigned index) { return table[index % 4]; }

TRACED unsigned dispatch_apply(operation chosen, unsigned value, unsigned round) { return chosen(value, round) + 1; }

TRACED unsigned dispatch_twice(unsigned value, unsigned round) {
  return dispatch_apply(dispatch_add, dispatch_apply(dispatch_rotate, value, round), round);
}

ZOO_PROGRAM(dispatch, 6) {
  unsigned value = 12345;
  for (long round = 0; round < argument; round++) {
    value = table[value % 4](value, (unsigned)round);
    value = dispatch_apply(dispatch_pick((unsigned)round), value, (unsigned)round);
  }
  CHECK(1, argument != 6 || value == 0xd15efe82u);
  return 0;
}
