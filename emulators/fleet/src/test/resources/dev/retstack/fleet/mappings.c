// Pages that come, change and go: what a program meets where it uses them.
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define ALONE __attribute__((noinline, noclone))
#define PAGE 65536L // of any kernel
static sigjmp_buf home;
static char *from;
static void met(int signal, siginfo_t *info, void *context) {
  printf("%d at %ld\n", info->si_code, (long)((char *)info->si_addr - from));
  siglongjmp(home, 1);
}
ALONE static char *map(char *at, long bytes, int may) {
  char *p = mmap(at, bytes, may, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
  if (p == MAP_FAILED) printf("mmap: %s\n", strerror(errno)), exit(1);
  return p;
}
ALONE static void use(char *at, char write) {
  if (sigsetjmp(home, 1)) return;
  if (write) *(volatile char *)at = write;
  printf("%d\n", *(volatile char *)at);
}
int main(int argc, char **argv) {
  long many = argc > 1 ? atol(argv[1]) : 100;
  struct sigaction action = {.sa_sigaction = met, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGBUS, &action, 0);
  char *p = map(0, 8 * PAGE, PROT_READ | PROT_WRITE);
  from = p;
  use(p + 100, 7);
  use(p + 3 * PAGE + 8, 9);
  munmap(p + 2 * PAGE, 2 * PAGE);
  use(p + 3 * PAGE + 8, 0); // nothing is mapped
  use(p + 2 * PAGE, 1);
  use(p + 4 * PAGE + 5, 5);
  mprotect(p, PAGE, PROT_READ);
  use(p + 100, 0);
  use(p + 101, 1); // read only
  mprotect(p, PAGE, PROT_NONE);
  use(p + 100, 0);
  map(p + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE);
  use(p + 3 * PAGE + 8, 0); // new, and zero
  map(p + 4 * PAGE, PAGE, PROT_READ | PROT_WRITE);
  use(p + 4 * PAGE + 5, 0); // in place of others, and zero
  map(p, 8 * PAGE, PROT_READ | PROT_WRITE);
  use(p + 100, 0);
  use(p + 2 * PAGE, 3);
  munmap(p, 8 * PAGE);
  use(p + 2 * PAGE, 0);

  long sum = 0, refused = 0;
  char **all = calloc(many, sizeof *all);
  for (long i = 0; i < many; i++) {
    all[i] = map(0, 4096, i & 1 ? PROT_READ : PROT_READ | PROT_WRITE);
    if (!(i & 1)) *all[i] = i % 100;
  }
  for (long i = 0; i < many; i += 2) sum += *all[i];
  for (long i = 0; i < many; i++) refused += mprotect(all[i], 4096, i & 1 ? PROT_NONE : PROT_READ) != 0;
  for (long i = 0; i < many; i += 2) sum += *all[i];
  for (long i = 0; i < many; i += 3) refused += munmap(all[i], 4096) != 0;
  printf("%ld %ld\n", sum, refused);
  char *span = map(0, many * PAGE, PROT_READ | PROT_WRITE);
  for (long i = 0; i < many; i += 2) refused += mprotect(span + i * PAGE, PAGE, PROT_READ) != 0;
  for (long i = 1; i < many; i += 2) refused += munmap(span + i * PAGE, PAGE) != 0;
  printf("%ld\n", refused);
}
