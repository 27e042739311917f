// Output: the write system call from inside a traced function.
#include "zoo.h"

// The image's only initialised data that is written to: a loader that skips it fails check 2.
static volatile long greetings_left = 1000000;

TRACED long hello_write(const char *text, unsigned long count) { return zoo_write(1, text, count); }

ZOO_PROGRAM(hello, 1) {
  CHECK(2, argument <= greetings_left);
  for (long i = 0; i < argument; i++) {
    CHECK(1, hello_write("hello from the zoo\n", 19) == 19);
    greetings_left--;
  }
  return 0;
}
