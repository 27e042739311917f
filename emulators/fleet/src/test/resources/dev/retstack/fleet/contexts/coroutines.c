/* Coroutines on stacks of an array, of the heap and of mappings. Prints how often each of them called what. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { MANY = 9, STACK = 32768, MAIN = MANY };

static ucontext_t mine, others[MANY];
static char array[3][STACK];
static long calls[MANY + 1];
static int done[MANY], turn = MAIN;
static jmp_buf older, inner;
static unsigned seed = 12345;

static __attribute__((noinline)) unsigned next(void) {
  calls[turn]++;
  seed = seed * 1103515245 + 12345;
  return seed >> 16;
}

static __attribute__((noinline)) int leaf(int n) {
  calls[turn]++;
  __asm__ volatile("" ::: "memory");
  return n & 3;
}

static __attribute__((noinline)) int yield(void) {
  calls[turn]++;
  int me = turn;
  turn = MAIN;
  swapcontext(&others[me], &mine);
  turn = me;
  return 1;
}

static __attribute__((noinline)) int jump(int n) {
  calls[turn]++;
  if (n == 0) {
    longjmp(inner, 1);
  }
  return jump(n - 1) + leaf(n);
}

static __attribute__((noinline)) int deep(int n) {
  calls[turn]++;
  int result = n == 0 ? yield() : deep(n - 1) + leaf(n);
  if (n % 3 == 0) {
    result += yield();
  }
  return result;
}

static __attribute__((noinline)) void body(int me) {
  calls[turn]++;
  long sum = 0;
  for (int i = 0; i < 12; i++) {
    sum += deep(2 + me);
    if (setjmp(inner) == 0) { /* across several frames, without a yield in between */
      sum += jump(me % 4 + 1);
    }
  }
  done[me] = sum > 0;
  for (;;) {
    yield();
  }
}

/* Leaves its stack for a frame of main that is older, and never returns. */
static __attribute__((noinline)) void leaver(int me) {
  calls[turn]++;
  deep(2 + me % 2);
  leaf(me);
  turn = MAIN;
  longjmp(older, me + 1);
}

static __attribute__((noinline)) void *room(int i) {
  calls[turn]++;
  return i < 3 ? array[i] : i < 6 ? malloc(STACK) : mmap(0, STACK, 3, 0x22, -1, 0);
}

static __attribute__((noinline)) void make(int i, void (*run)(int)) {
  calls[turn]++;
  getcontext(&others[i]);
  others[i].uc_stack.ss_sp = room(i);
  others[i].uc_stack.ss_size = STACK;
  makecontext(&others[i], (void (*)(void))run, 1, i);
}

static __attribute__((noinline)) int resume(int i, int depth) {
  calls[turn]++;
  if (depth > 0) {
    return resume(i, depth - 1) + leaf(depth);
  }
  turn = i;
  swapcontext(&mine, &others[i]);
  turn = MAIN;
  return leaf(i);
}

int main(void) {
  calls[turn]++;
  volatile int switches = 0;
  volatile long sum = 0;
  for (int i = 0; i < MANY; i++) {
    make(i, i % 3 == 2 ? leaver : body);
  }
  int left = setjmp(older);
  if (left > 0) {
    done[left - 1] = 1;
    sum += leaf(left);
  }
  while (switches < 600) {
    int i = (int)(next() % MANY);
    if (!done[i]) {
      sum += resume(i, (int)(next() % 5));
    }
    switches++;
  }
  for (int i = 0; i <= MANY; i++) {
    printf("%d %ld %d\n", i, calls[i], i < MANY ? done[i] : 0);
  }
  return 0;
}
