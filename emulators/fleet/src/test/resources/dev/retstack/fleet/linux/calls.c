// Asks the C library for what makes system calls: large and growing heap, time, random bytes, files that are not
// there, input, a failing call. Prints only what is the same on every Linux.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

APART unsigned long heap(size_t n) {
  unsigned char *block = malloc(n);
  if (block == NULL) return 0;
  for (size_t i = 0; i < n; i++) block[i] = (unsigned char)(i * 7);
  block = realloc(block, 3 * n);
  if (block == NULL) return 0;
  unsigned long sum = 0;
  for (size_t i = 0; i < n; i++) sum = sum * 31 + block[i];
  free(block);
  return sum;
}

APART int grow_and_shrink(void) {
  char *start = sbrk(0);
  if (sbrk(1 << 20) != start) return 1;
  memset(start, 'x', 1 << 20);
  if (sbrk(-(1 << 20)) != start + (1 << 20)) return 2;
  if (sbrk(1 << 20) != start) return 3;
  return start[12345] == 0 ? 0 : 4;
}

APART int time_moves(void) {
  struct timespec a, b, nap = {2, 500};
  if (clock_gettime(CLOCK_MONOTONIC, &a) != 0) return 1;
  if (nanosleep(&nap, NULL) != 0) return 2;
  if (clock_gettime(CLOCK_MONOTONIC, &b) != 0) return 3;
  return b.tv_sec - a.tv_sec >= 2 ? 0 : 4;
}

APART int pages(void) {
  char *p = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return 1;
  p[1 << 20] = 1;
  if (mprotect(p, 4096, PROT_READ) != 0 || p[0] != 0) return 2;
  if (mprotect(p, 4096, PROT_READ | PROT_WRITE) != 0) return 2;
  p = mremap(p, 4 << 20, 8 << 20, MREMAP_MAYMOVE);
  if (p == MAP_FAILED || p[1 << 20] != 1 || p[7 << 20] != 0) return 3;
  return munmap(p, 8 << 20) == 0 ? 0 : 4;
}

static void *volatile nowhere = (void *)8;

APART int files(void) {
  struct stat status;
  if (open("/no/such/file", O_RDONLY) != -1 || errno != ENOENT) return 1;
  if (fstat(1, &status) != 0 || !S_ISFIFO(status.st_mode)) return 2;
  if (isatty(1)) return 3;
  if (lseek(1, 0, SEEK_SET) != -1 || errno != ESPIPE) return 4;
  if (write(99, "x", 1) != -1 || errno != EBADF) return 5;
  if (write(1, nowhere, 1) != -1 || errno != EFAULT) return 6;
  return 0;
}

APART long double third(volatile long double x) { return x / 3; }

int main(int argc, char **argv, char **environment) {
  unsigned char random[8] = {0};
  struct utsname name;
  char line[100];
  printf("%d %s %s\n", argc, argv[argc - 1], environment[0]);
  printf("heap %lu %lu\n", heap(1000), heap(300 << 10));
  printf("break %d\n", grow_and_shrink());
  printf("time %d\n", time_moves());
  printf("pages %d\n", pages());
  printf("files %d\n", files());
  printf("random %d\n", getrandom(random, sizeof random, 0) == sizeof random);
  printf("third %.17Lf %.25f\n", third(2), (double)third(1));
  printf("uname %d %s\n", uname(&name), name.sysname);
  printf("unknown %ld\n", syscall(4000));
  while (fgets(line, sizeof line, stdin) != NULL) printf("> %s", line);
  fprintf(stderr, "%.3f %g\n", 1 / 3.0, 1e300);
  return 42;
}
