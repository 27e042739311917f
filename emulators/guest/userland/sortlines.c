// A user's own program, hosted: reads lines from standard input, sorts them with the C library's qsort (whose code is
// not instrumented and calls the instrumented comparison back), prints them. Exit code 0, or 4 for no input.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 1000 };

static char *lines[LINES];

__attribute__((noinline, noclone)) int by_text(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

__attribute__((noinline, noclone)) int read_lines(void) {
  char buffer[256];
  int count = 0;
  while (count < LINES && fgets(buffer, sizeof buffer, stdin) != NULL) {
    lines[count] = malloc(strlen(buffer) + 1);
    if (lines[count] == NULL) abort();
    strcpy(lines[count++], buffer);
  }
  return count;
}

__attribute__((noinline, noclone)) void print_lines(int count) {
  for (int i = 0; i < count; i++) fputs(lines[i], stdout);
}

int main(void) {
  int count = read_lines();
  if (count == 0) return 4;
  qsort(lines, (size_t)count, sizeof lines[0], by_text);
  print_lines(count);
  return 0;
}
