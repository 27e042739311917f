// Coroutines in threads: each of THREADS runs FIBERS of them in turn, on stacks of malloc() or mmap().
// With TICKS a timer's signal comes meanwhile, to any of them.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum { THREADS = 3, FIBERS = 4, ROUNDS = 5, BYTES = 65536 };

struct fiber {
  ucontext_t self, back;
  long sum;
  int done;
};

static __thread struct fiber *now;
static volatile int ticks;

__attribute__((noinline)) void tick(int number) { ticks += number != 0; }

__attribute__((noinline)) long work(long k) { return k * 3 + 1; }

__attribute__((noinline)) void yield(void) {
  struct fiber *self = now;
  swapcontext(&self->self, &self->back);
  now = self;
}

__attribute__((noinline)) long deep(int depth) {
  if (depth == 0) {
    yield();
    return 1;
  }
  return work(depth) + deep(depth - 1) * 2;
}

__attribute__((noinline)) void fiber(int self) {
  (void)self;
  struct fiber *own = now;
  for (int i = 0; i < ROUNDS; i++) own->sum += deep(4);
  own->done = 1;
}

static void *thread(void *number) {
  struct fiber *all = calloc(FIBERS, sizeof *all);
  for (int i = 0; i < FIBERS; i++) {
    getcontext(&all[i].self);
    all[i].self.uc_stack.ss_sp = i % 2 == 0 ? malloc(BYTES)
        : mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    all[i].self.uc_stack.ss_size = BYTES;
    all[i].self.uc_link = &all[i].back;
    makecontext(&all[i].self, (void (*)(void))fiber, 1, i);
  }
  long sum = (long)number;
  for (int left = FIBERS; left;) {
    left = 0;
    for (int i = 0; i < FIBERS; i++)
      if (!all[i].done) {
        left++;
        now = &all[i];
        swapcontext(&all[i].back, &all[i].self);
      }
  }
  for (int i = 0; i < FIBERS; i++) sum += all[i].sum;
  return (void *)sum;
}

int main(void) {
#ifdef TICKS
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  struct itimerval often = {{0, 3}, {0, 3}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, 0);
#endif
  pthread_t threads[THREADS];
  long sum = 0;
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, thread, (void *)i);
  for (int i = 0; i < THREADS; i++) {
    void *one;
    pthread_join(threads[i], &one);
    sum += (long)one;
  }
#ifdef TICKS
  setitimer(ITIMER_REAL, &never, 0);
#endif
  printf("sum %ld\n", sum);
  return 0;
}
