// A user's own program, hosted: sorts records by several keys through qsort's pointer to a function, finds them again
// with bsearch. Exit code = number of records that were found, modulo 100.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone))

enum { RECORDS = 300, NAME_BYTES = 12 };

struct record {
  char name[NAME_BYTES];
  int year;
  double weight;
  long long serial;
};

static struct record records[RECORDS];

KEEP unsigned random_number(void) {
  static unsigned state = 12345;
  state = state * 1103515245u + 12345u;
  return state >> 16;
}

KEEP void fill(void) {
  for (int i = 0; i < RECORDS; i++) {
    struct record *r = &records[i];
    snprintf(r->name, NAME_BYTES, "r%u", random_number() % 50);
    r->year = 1900 + (int)(random_number() % 120);
    r->weight = random_number() / 7.0 - 2000;
    r->serial = ((long long)random_number() << 33) - i;
  }
}

KEEP int by_name(const void *a, const void *b) {
  return strcmp(((const struct record *)a)->name, ((const struct record *)b)->name);
}

KEEP int by_year(const void *a, const void *b) {
  return ((const struct record *)a)->year - ((const struct record *)b)->year;
}

KEEP int by_weight(const void *a, const void *b) {
  double left = ((const struct record *)a)->weight, right = ((const struct record *)b)->weight;
  return (left > right) - (left < right);
}

KEEP int by_serial(const void *a, const void *b) {
  long long left = ((const struct record *)a)->serial, right = ((const struct record *)b)->serial;
  return (left > right) - (left < right);
}

// All keys in turn: the last one decides, the earlier ones where it says nothing.
KEEP int by_all(const void *a, const void *b) {
  int (*const keys[])(const void *, const void *) = {by_year, by_name, by_weight, by_serial};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    int order = keys[i](a, b);
    if (order != 0) return order;
  }
  return 0;
}

KEEP void show(const char *title) {
  printf("%s:", title);
  for (int i = 0; i < RECORDS; i += 37) printf(" %s/%d/%.2f/%lld", records[i].name, records[i].year, records[i].weight,
                                               records[i].serial);
  printf("\n");
}

int main(void) {
  fill();
  qsort(records, RECORDS, sizeof records[0], by_weight);
  show("weight");
  qsort(records, RECORDS, sizeof records[0], by_serial);
  show("serial");
  qsort(records, RECORDS, sizeof records[0], by_all);
  show("all");
  qsort(records, RECORDS, sizeof records[0], by_name);
  show("name");
  int found = 0;
  for (unsigned i = 0; i < 60; i++) {
    struct record wanted = {.year = 0};
    snprintf(wanted.name, NAME_BYTES, "r%u", i);
    const struct record *hit = bsearch(&wanted, records, RECORDS, sizeof records[0], by_name);
    if (hit != NULL) found++;
  }
  printf("%d found\n", found);
  return found % 100;
}
