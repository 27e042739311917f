/*
 * Coroutines that are left for good, one after the other, at places of one array drawn by chance: their calls never return.
 * Before them some are begun that wait until all others are abandoned, and return then. Arguments: how many, a seed.
 * Prints what those return.
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { WAITING = 8, STACK = 8192, PLACES = 1 << 22, ALIGN = 16 };

static ucontext_t base, one, waiting[WAITING];
static long sum;
static unsigned state;

#define CALLED __attribute__((noinline))

static unsigned draw(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

CALLED int leave(int depth, ucontext_t *self) {
  volatile int kept = depth * 7;
  if (depth > 0) {
    return leave(depth - 1, self) + kept;
  }
  swapcontext(self, &base);
  return kept + 1;
}

CALLED void left(int depth) {
  sum -= leave(depth, &one);
}

CALLED void returns(int who) {
  sum += leave(who, &waiting[who]);
}

static void make(ucontext_t *context, char *stack, void (*body)(int), int argument) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = STACK;
  context->uc_link = &base;
  makecontext(context, (void (*)(void))body, 1, argument);
}

CALLED int run(int many) {
  char stacks[WAITING * STACK + PLACES + STACK];
  for (int i = 0; i < WAITING; i++) {
    make(&waiting[i], stacks + i * STACK, returns, i);
    swapcontext(&base, &waiting[i]);
  }
  for (int i = 0; i < many; i++) {
    char *stack = stacks + WAITING * STACK + ALIGN * draw(PLACES / ALIGN);
    make(&one, stack, left, (int)draw(4));
    swapcontext(&base, &one);
  }
  for (int i = 0; i < WAITING; i++) {
    swapcontext(&base, &waiting[i]);
  }
  return many;
}

int main(int count, char **arguments) {
  int many = count > 1 ? atoi(arguments[1]) : 1000;
  state = count > 2 ? (unsigned)atoi(arguments[2]) : 1;
  run(many);
  printf("%d %ld\n", many, sum);
  return 0;
}
