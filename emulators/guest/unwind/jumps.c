/*
 * Jumps and stack switches by chance: each of some stacks calls, returns, jumps over several frames to a setjmp below it,
 * gives the core to another stack (swapcontext), or jumps there in the middle of what that one did.
 *
 *   jumps SEED [STACKS [STEPS]]   as many stacks beside main's (0 to 3), and steps of all together
 */
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

#include "log.h"

enum { LEVELS = 10, STACKS = 4, BYTES = 64 * 1024 };

static char stack1[BYTES], stack2[BYTES], stack3[BYTES];
static char *const memory[STACKS] = {NULL, stack1, stack2, stack3};
static const char *const names[STACKS] = {"main", "stack1", "stack2", "stack3"};

static struct stack {
  ucontext_t context;
  jmp_buf levels[LEVELS];
  int depth;   /* levels that are open, and can be jumped to */
  int running; /* it was begun, and has not ended */
  int waits;   /* it was left by swapcontext; else by a jump */
} stacks[STACKS];

static int current, count, steps;
static unsigned long long seed;

UNTRACED static int chance(int below) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((seed >> 33) % (unsigned)below);
}

TRACED int leaf(int n) {
  IN();
  OUT();
  return n + 1;
}

typedef int function(int level);
static function *const functions[LEVELS];

/* To the one that is given, in the middle of what it waits for or to a level of it. */
UNTRACED static void switch_to(int to, int level) {
  struct stack *from = &stacks[current];
  current = to;
  from->waits = level < 0;
  if (level >= 0) {
    longjmp(stacks[to].levels[level], 1 + level);
  }
  if (!stacks[to].running) {
    stacks[to].running = 1;
    say('@', names[to]);
  }
  swapcontext(&from->context, &stacks[to].context);
  say('@', names[current]);
}

UNTRACED static void step(int level) {
  struct stack *own = &stacks[current];
  int what = chance(10);
  if (what < 4 && level + 1 < LEVELS) {
    functions[level + 1](level + 1);
  } else if (what < 6) {
    leaf(level);
  } else if (what < 7) {
    longjmp(own->levels[chance(own->depth)], 1);
  } else if (what < 9 && count > 1) {
    int to = chance(count);
    if (to != current && (!stacks[to].running || stacks[to].waits)) {
      switch_to(to, -1);
    } else if (to != current && stacks[to].depth > 0) {
      switch_to(to, chance(stacks[to].depth));
    }
  }
}

/* The level's own frame is one of the instrumented function, so that it is alive when it is jumped to. */
#define LEVEL(n)                                                                                                       \
  TRACED int level##n(int level) {                                                                                     \
    IN();                                                                                                              \
    int own = current; /* not changed behind the setjmp */                                                             \
    if (setjmp(stacks[own].levels[level]) != 0) {                                                                      \
      say('@', names[own]);                                                                                            \
      LANDED();                                                                                                        \
    }                                                                                                                  \
    stacks[own].depth = level + 1;                                                                                     \
    while (steps > 0 && chance(6) > 0) {                                                                               \
      steps--;                                                                                                         \
      step(level);                                                                                                     \
      stacks[own].depth = level + 1;                                                                                   \
    }                                                                                                                  \
    stacks[own].depth = level;                                                                                         \
    OUT();                                                                                                             \
    return level;                                                                                                      \
  }

LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)
LEVEL(5)
LEVEL(6)
LEVEL(7)
LEVEL(8)
LEVEL(9)

static function *const functions[LEVELS] = {level0, level1, level2, level3, level4,
                                            level5, level6, level7, level8, level9};

TRACED void body(void) {
  IN();
  for (;;) {
    if (steps > 0) {
      level0(0);
    }
    stacks[current].depth = 0;
    switch_to(0, stacks[0].waits ? -1 : 0);
  }
}

int main(int argc, char **argv) {
  IN();
  seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  count = argc > 2 ? 1 + atoi(argv[2]) : 1;
  steps = argc > 3 ? atoi(argv[3]) : 1000;
  stacks[0].running = 1;
  for (int i = 1; i < count; i++) {
    getcontext(&stacks[i].context);
    stacks[i].context.uc_stack.ss_sp = memory[i];
    /* not to its end: where calls push nothing, the first slot would be an address of what lies behind it */
    stacks[i].context.uc_stack.ss_size = BYTES - 64;
    makecontext(&stacks[i].context, body, 0);
  }
  while (steps > 0) {
    level0(0);
  }
  OUT();
  return 0;
}
