// Mutual recursion: a cycle of two functions, with and without branching (Hofstadter's female and male sequences).
#include "zoo.h"

TRACED long steps_odd(long n);

TRACED long steps_even(long n) { return n == 0 ? 0 : 1 + steps_odd(n - 1); }

TRACED long steps_odd(long n) { return n == 0 ? 0 : 1 + steps_even(n - 1); }

TRACED long hofstadter_male(long n);

TRACED long hofstadter_female(long n) { return n == 0 ? 1 : n - hofstadter_male(hofstadter_female(n - 1)); }

TRACED long hofstadter_male(long n) { return n == 0 ? 0 : n - hofstadter_female(hofstadter_male(n - 1)); }

ZOO_PROGRAM(mutual, 9) {
  CHECK(1, steps_even(argument) == argument);
  CHECK(2, hofstadter_female(4) == 3);
  CHECK(3, hofstadter_male(5) == 3);
  return 0;
}
