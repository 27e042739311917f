// Load for the tables of profiling.c: a phase that starts up and never comes back (decay makes the table forget it),
// then rounds over 40 functions of which few are hot, with more addresses than any table holds. Prints the tables.
#include "profiling.h"
#include "zoo.h"

typedef unsigned (*work)(unsigned value, unsigned depth);

enum { FUNCTIONS = 40, DEPTH = 5 };

extern const work hot_functions[FUNCTIONS];

// Low numbers are called more often: the product of two fractions is small more often than not.
#define PICK(value) (hot_functions[((value) >> 8 & 0xff) * ((value) >> 20 & 0xff) * FUNCTIONS >> 16])

#define WORK(number)                                                                  \
  TRACED unsigned hot_##number(unsigned value, unsigned depth) {                      \
    value = value * 1664525u + 2654435761u * 1##number##u;                            \
    return depth == 0 ? value : value ^ PICK(value)(value, depth - 1);                \
  }
#define NAME(number) hot_##number,
#define TEN(with, tens)                                                                                          \
  with(tens##0) with(tens##1) with(tens##2) with(tens##3) with(tens##4) with(tens##5) with(tens##6) with(tens##7) \
      with(tens##8) with(tens##9)

TEN(WORK, 0)
TEN(WORK, 1)
TEN(WORK, 2)
TEN(WORK, 3)

const work hot_functions[FUNCTIONS] = {TEN(NAME, 0) TEN(NAME, 1) TEN(NAME, 2) TEN(NAME, 3)};

// Not counted by hot_wide, as firmware leaves out its idle loop.
TRACED long hot_idle(long x) { return x + 1; }

// In the second section of code: an empty one at the end of the text makes qemu-user 7.2 die.
TRACED __attribute__((section("zoo_far_text"))) unsigned hot_start(unsigned value) { return value * 22695477u + 1; }

UNTRACED static void print_number(u64 value, unsigned base) {
  char digits[24];
  int at = sizeof digits;
  do {
    // by subtraction: riscv32 has no library that divides 64 bits
    unsigned rest = 0;
    u64 quotient = 0;
    for (int bit = 63; bit >= 0; bit--) {
      rest = rest << 1 | (unsigned)(value >> bit & 1);
      quotient <<= 1;
      if (rest >= base) rest -= base, quotient |= 1;
    }
    digits[--at] = "0123456789abcdef"[rest];
    value = quotient;
  } while (value != 0);
  zoo_write(1, digits + at, sizeof digits - (unsigned)at);
}

// One line per entry in use: table, address, hits, ratio.
UNTRACED static void print(const char *name, const struct hot_table *table) {
  for (u32 i = 0; i < table->entries && table->items[i].hit_cnt != 0; i++) {
    zoo_write(1, name, 5);
    zoo_write(1, " 0x", 3);
    print_number(table->items[i].base_addr, 16);
    zoo_write(1, " ", 1);
    print_number(table->items[i].hit_cnt, 10);
    zoo_write(1, " ", 1);
    print_number(table->items[i].hit_ratio, 10);
    zoo_write(1, "\n", 1);
  }
}

ZOO_PROGRAM(hot, 300) {
  unsigned value = 12345;
  long idle = 0;
  for (int i = 0; i < 500; i++) value = hot_start(value);
  for (long round = 0; round < argument; round++) {
    value = PICK(value)(value + (unsigned)round, DEPTH);
    for (unsigned i = 0; i < (value >> 16 & 7); i++) idle = hot_idle(idle);
  }
  CHECK(1, idle > 0);
  print("seed ", &hot_seed);
  print("wide ", &hot_wide);
  print("small", &hot_small);
  return 0;
}
