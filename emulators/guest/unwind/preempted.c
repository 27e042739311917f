// Coroutines that a signal handler switches: each waits inside its handler until it is resumed.
// STACKS says where their stacks are: 0 one array, 1 a variable each, 2 the heap, 3 mappings.
// With QUIET the handler is not traced. CALLS: calls of work() by each of the three.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#ifndef STACKS
#define STACKS 0
#endif
#ifndef CALLS
#define CALLS 4000
#endif
#ifdef QUIET
#define HANDLER __attribute__((noinline, no_instrument_function, patchable_function_entry(0, 0)))
#else
#define HANDLER __attribute__((noinline))
#endif

enum { COUNT = 3, BYTES = 65536 };

static sigset_t alarms; // blocked while contexts are switched: swapcontext() unblocks them too early
static ucontext_t scheduler, coroutines[COUNT];
static volatile int running, done[COUNT], switches;
static volatile unsigned sums[COUNT];
static char array[COUNT][BYTES], first[BYTES], second[BYTES], third[BYTES];

__attribute__((noinline)) void work(int self) { sums[self] = sums[self] * 31 + self + 1; }

__attribute__((noinline)) void coroutine(int self) {
  sigprocmask(SIG_UNBLOCK, &alarms, 0);
  for (int i = 0; i < CALLS; i++) work(self);
  sigprocmask(SIG_BLOCK, &alarms, 0);
  done[self] = 1;
}

HANDLER void switch_to(int from, int to) {
  switches++;
  running = to;
  swapcontext(&coroutines[from], &coroutines[to]);
}

HANDLER void tick(int number) {
  (void)number;
  int from = running, to = from;
  do to = (to + 1) % COUNT;
  while (done[to] && to != from);
  if (to != from) switch_to(from, to);
  __asm__ volatile("" ::: "memory"); // no tail call
}

static char *stack(int i) {
  switch (STACKS) {
    case 0: return array[i];
    case 1: return i == 0 ? first : i == 1 ? second : third;
    case 2: return malloc(BYTES);
    default: return mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
}

int main(void) {
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarms, 0);
  for (int i = 0; i < COUNT; i++) {
    getcontext(&coroutines[i]);
    coroutines[i].uc_stack.ss_sp = stack(i);
    coroutines[i].uc_stack.ss_size = BYTES;
    coroutines[i].uc_link = &scheduler;
    makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
  }
  struct itimerval often = {{0, 5}, {0, 5}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, 0);
  for (int i = 0; i < COUNT; i++)
    while (!done[i]) {
      running = i;
      swapcontext(&scheduler, &coroutines[i]);
    }
  setitimer(ITIMER_REAL, &never, 0);
  printf("%u %u %u %s\n", sums[0], sums[1], sums[2], switches > 3 ? "switched" : "alone");
  return 0;
}
