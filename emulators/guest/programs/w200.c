// Throughput: 200 functions with two callees each, about 49 calls per round. `w200 1000000` is the load of the
// benchmarks, the default argument the one with a tree file.
#include "zoo.h"

typedef unsigned (*work)(unsigned value, unsigned depth);

enum { W200_FUNCTIONS = 200, W200_DEPTH = 7 };

extern const work w200_table[W200_FUNCTIONS];

#define ANY(value) (w200_table[((value) >> 8) % W200_FUNCTIONS])
#define CALLEE(number, site) (w200_table[(1##number * 7 + 67 * (site)) % W200_FUNCTIONS])

// Each function has its two callees, as in most programs: the first is called always, the second on
// every other value.
#define WORK(number)                                                   \
  TRACED unsigned w200_##number(unsigned value, unsigned depth) {      \
    value = value * 1664525u + 2654435761u * 1##number##u;             \
    if (depth == 0) return value;                                      \
    value ^= CALLEE(number, 1)(value, depth - 1);                      \
    if (value & 0x10000) value += CALLEE(number, 2)(value, depth - 1); \
    return value;                                                      \
  }
#define NAME(number) w200_##number,

#define TEN(with, tens)                                                                                          \
  with(tens##0) with(tens##1) with(tens##2) with(tens##3) with(tens##4) with(tens##5) with(tens##6) with(tens##7) \
      with(tens##8) with(tens##9)
#define HUNDRED(with, hundreds)                                                                               \
  TEN(with, hundreds##0) TEN(with, hundreds##1) TEN(with, hundreds##2) TEN(with, hundreds##3)                 \
      TEN(with, hundreds##4) TEN(with, hundreds##5) TEN(with, hundreds##6) TEN(with, hundreds##7)             \
          TEN(with, hundreds##8) TEN(with, hundreds##9)

HUNDRED(WORK, 0)
HUNDRED(WORK, 1)

const work w200_table[W200_FUNCTIONS] = {HUNDRED(NAME, 0) HUNDRED(NAME, 1)};

ZOO_PROGRAM(w200, 4) {
  unsigned value = 12345;
  for (long round = 0; round < argument; round++) value = ANY(value)(value + (unsigned)round, W200_DEPTH);
  CHECK(1, argument != 4 || value == 0x7734b258u);
  return 0;
}
