/*
 * Frames of up to 1 MiB: a return address that was in a register at the function's entry is saved far below. The functions
 * are left by switches of stacks that lie in their locals, taken for dead, and return at last. Argument: how many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FAR = 1 << 16, STACK = 65536, MANY = 4000 };
static ucontext_t base, one;
static long sum;
#define CALLED __attribute__((noinline))

CALLED int leaf(int n) { __asm__ volatile("" ::: "memory"); return n * 3 + 1; }

CALLED void inside(void) {
  for (int i = 0;; i++) {
    sum += leaf(i);
    swapcontext(&one, &base);
  }
}

CALLED void once(int n) { sum += leaf(n); swapcontext(&one, &base); }

static void make(char *stack, void (*body)(void)) {
  getcontext(&one);
  one.uc_stack.ss_sp = stack;
  one.uc_stack.ss_size = STACK;
  one.uc_link = &base;
  makecontext(&one, body, 0);
}

CALLED int big(int depth, int many, char *outer) {
  /* the array lies above or below the saved registers, as the ABI has it */
  volatile char room[FAR];
  room[0] = (char)depth;
  room[FAR - 1] = (char)depth;
  if (depth > 0) {
    int r = big(depth - 1, many, outer) + room[0];
    return r + room[FAR - 1];
  }
  for (int i = 0; i < many; i++) {
    /* a stack that lies in the local of an open frame */
    make(outer + i * 32L, (void (*)(void))inside);
    swapcontext(&base, &one);
    sum += leaf(i);
  }
  return leaf(many);
}

CALLED int outermost(int depth, int many, char *outer) {
  char room[(1 << 21) + STACK];
  return big(depth, many, room) + (room[0] & 0);
}

int main(int count, char **arguments) {
  int many = count > 1 ? atoi(arguments[1]) : MANY;
  int got = outermost(7, many, 0);
  printf("%d %d %ld\n", many, got, sum);
  return 0;
}
