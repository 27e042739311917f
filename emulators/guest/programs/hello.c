// Output: the write system call from inside a traced function.
#include "zoo.h"

TRACED long hello_write(const char *text, unsigned long count) { return zoo_write(1, text, count); }

ZOO_PROGRAM(hello, 1) {
  for (long i = 0; i < argument; i++) CHECK(1, hello_write("hello from the zoo\n", 19) == 19);
  return 0;
}
