/*
 * Coroutines that share one stack: what it holds is copied out when one waits, and copied in when it goes on. Each calls
 * from places of its own, so that equal depths return to different code. Arguments: how many, how many steps, a seed.
 * Prints a checksum.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { MANY = 2000, STACK = 16384 };

static char place[STACK] __attribute__((aligned(64)));
static struct { ucontext_t context; char *copy; int state; } all[MANY];
static ucontext_t base;
static int now, steps;
static long sum;
static unsigned state;

#define CALLED __attribute__((noinline))

static unsigned draw(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

CALLED int pause_here(int n) {
  int me = now;
  swapcontext(&all[me].context, &base);
  __asm__ volatile("" ::: "memory");
  return n + (now == me ? 1 : 100000);
}

CALLED int left(int n);
CALLED int right(int n);

CALLED int left(int n) {
  volatile int kept = n * 3;
  int r = n == 0 ? pause_here(n) + 2 : draw(2) ? left(n - 1) + 5 : right(n - 1) + 7;
  return r + kept;
}

CALLED int right(int n) {
  volatile int kept = n * 11;
  int r = n == 0 ? pause_here(n) + 13 : draw(2) ? right(n - 1) + 17 : left(n - 1) + 19;
  return r + kept;
}

CALLED void body(int who) {
  for (;;) {
    sum = sum * 31 + left((int)draw(6));
    sum = sum * 31 + right((int)draw(6));
    sum ^= who;
  }
}

CALLED void resume(int who) {
  now = who;
  memcpy(place, all[who].copy, STACK);
  swapcontext(&base, &all[who].context);
  memcpy(all[who].copy, place, STACK);
}

int main(int count, char **arguments) {
  int many = count > 1 ? atoi(arguments[1]) : 3;
  steps = count > 2 ? atoi(arguments[2]) : 300;
  state = count > 3 ? (unsigned)atoi(arguments[3]) : 1;
  for (int i = 0; i < many; i++) {
    all[i].copy = calloc(1, STACK);
    getcontext(&all[i].context);
    all[i].context.uc_stack.ss_sp = place;
    all[i].context.uc_stack.ss_size = STACK;
    makecontext(&all[i].context, (void (*)(void))body, 1, i);
    memcpy(all[i].copy, place, STACK);
  }
  for (; steps > 0; steps--) {
    resume((int)draw(many));
  }
  printf("%d %ld\n", many, sum);
  return 0;
}
