// All programs of this folder as one, for a test that runs each of them on each ISA: to link is most of the work. The
// name by which it is called says which one runs; the main of `hello` is then `hello_main`.
#include <string.h>

#define PROGRAM(name) __attribute__((noinline, noclone)) name##_main
#define main PROGRAM(hello)
#include "hello.c"
#undef main
#define main PROGRAM(json)
#include "json.c"
#undef main
#define main PROGRAM(malloc)
#include "malloc.c"
#undef main
#define main PROGRAM(printf)
#include "printf.c"
#undef main
#define main PROGRAM(qsort)
#include "qsort.c"
#undef main
#define main PROGRAM(recover)
#include "recover.c"
#undef main
#define main PROGRAM(sortlines)
#include "sortlines.c"
#undef main

int main(int argc, char **argv) {
  if (strcmp(argv[0], "hello") == 0) return hello_main(argc, argv);
  if (strcmp(argv[0], "json") == 0) return json_main();
  if (strcmp(argv[0], "malloc") == 0) return malloc_main();
  if (strcmp(argv[0], "printf") == 0) return printf_main();
  if (strcmp(argv[0], "qsort") == 0) return qsort_main();
  if (strcmp(argv[0], "recover") == 0) return recover_main(argc, argv);
  if (strcmp(argv[0], "sortlines") == 0) return sortlines_main();
  return 99;
}
