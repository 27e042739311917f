// A sort: quicksort over seeded numbers, the order given by a function pointer; leaves dominate.
#include "zoo.h"

enum { SORT_LIMIT = 4096 };

static int numbers[SORT_LIMIT];

typedef int (*order)(int left, int right);

TRACED int order_rising(int left, int right) { return (left > right) - (left < right); }

TRACED int order_falling(int left, int right) { return (left < right) - (left > right); }

TRACED void sort_swap(int *left, int *right) {
  int kept = *left;
  *left = *right;
  *right = kept;
}

TRACED int sort_partition(int low, int high, order compare) {
  int border = low;
  for (int i = low; i < high; i++) {
    if (compare(numbers[i], numbers[high]) < 0) {
      if (i != border) sort_swap(&numbers[i], &numbers[border]);
      border++;
    }
  }
  sort_swap(&numbers[border], &numbers[high]);
  return border;
}

TRACED void quicksort(int low, int high, order compare) {
  if (low >= high) return;
  int border = sort_partition(low, high, compare);
  quicksort(low, border - 1, compare);
  quicksort(border + 1, high, compare);
}

TRACED unsigned sort_fill(int count) {
  unsigned seed = 20240229, sum = 0;
  for (int i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = (int)(seed >> 8) - 0x800000;
    sum += (unsigned)numbers[i];
  }
  return sum;
}

HELPER int sorted(int count, int sign, unsigned sum) {
  for (int i = 0; i < count; i++) {
    if (i > 0 && (sign > 0 ? numbers[i - 1] > numbers[i] : numbers[i - 1] < numbers[i])) return 0;
    sum -= (unsigned)numbers[i];
  }
  return sum == 0;
}

ZOO_PROGRAM(sort, 12) {
  CHECK(1, argument > 0 && argument <= SORT_LIMIT);
  int count = (int)argument;
  unsigned sum = sort_fill(count);
  quicksort(0, count - 1, order_rising);
  CHECK(2, sorted(count, 1, sum));
  sum = sort_fill(count);
  quicksort(0, count - 1, order_falling);
  CHECK(3, sorted(count, -1, sum));
  return 0;
}
