// Ends in the way that its argument names.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline, noclone)) void wild(volatile int *p) { *p = 1; }

int main(int argc, char **argv) {
  puts("before");
  if (argc > 1 && strcmp(argv[1], "abort") == 0) {
    fflush(stdout);
    abort();
  }
  if (argc > 1 && strcmp(argv[1], "wild") == 0) {
    fflush(stdout);
    wild((int *)0x123456789000);
  }
  exit(argc);
}
