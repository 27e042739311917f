// A user's own program, hosted: arguments, environment, formatted output, the heap, an exit code of its own.
//
//   hello [WORD...]    prints each word with its length; exit code = number of words + 3
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  char *text;
  size_t length;
};

__attribute__((noinline, noclone)) struct entry *make_entry(const char *text) {
  struct entry *entry = malloc(sizeof *entry);
  if (entry == NULL) abort();
  entry->length = strlen(text);
  entry->text = malloc(entry->length + 1);
  if (entry->text == NULL) abort();
  memcpy(entry->text, text, entry->length + 1);
  return entry;
}

__attribute__((noinline, noclone)) void print_entry(const struct entry *entry, double share) {
  printf("%-8s %2zu %5.1f%%\n", entry->text, entry->length, 100 * share);
}

__attribute__((noinline, noclone)) void drop_entry(struct entry *entry) {
  free(entry->text);
  free(entry);
}

int main(int argc, char **argv) {
  const char *greeting = getenv("GREETING");
  size_t total = 0;
  printf("%s from %s\n", greeting == NULL ? "hello" : greeting, argc > 0 ? "userland" : "nowhere");
  for (int i = 1; i < argc; i++) total += strlen(argv[i]);
  for (int i = 1; i < argc; i++) {
    struct entry *entry = make_entry(argv[i]);
    print_entry(entry, total == 0 ? 0 : (double)entry->length / (double)total);
    drop_entry(entry);
  }
  return argc + 2;
}
