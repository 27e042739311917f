// The counting oracle: linked with a program that was compiled with -finstrument-functions, it writes how often each
// function was called to standard error, as lines "address count" in hexadecimal and decimal. It shares nothing with
// the tracer: neither counting functions nor return addresses.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define QUIET __attribute__((no_instrument_function))

enum { FUNCTIONS = 256 };

static struct {
  void *address;
  unsigned long calls;
} functions[FUNCTIONS];

QUIET void __cyg_profile_func_enter(void *function, void *from) {
  (void)from;
  for (int i = 0; i < FUNCTIONS; i++) {
    if (functions[i].address == NULL) functions[i].address = function;
    if (functions[i].address == function) {
      functions[i].calls++;
      return;
    }
  }
  abort();
}

QUIET void __cyg_profile_func_exit(void *function, void *from) { (void)function, (void)from; }

QUIET __attribute__((destructor)) static void report(void) {
  for (int i = 0; i < FUNCTIONS && functions[i].address != NULL; i++) {
    fprintf(stderr, "%jx %lu\n", (uintmax_t)(uintptr_t)functions[i].address, functions[i].calls);
  }
}
