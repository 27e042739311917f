/*
 * A small kernel that switches in a function of its own, whose tasks end deep in their calls and whose control blocks and
 * stacks are used again, and which calls a handler of interrupts now and then. Prints who called how much.
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { SLOTS = 4, STACK = 65536, STARTS = 40 };

struct task {
  ucontext_t context;
  long calls;
  int ready;
  int depth;
};

struct task tasks[SLOTS], task_main;
struct task *volatile current = &task_main;
static char stacks[SLOTS][STACK];
static long in_handler, handled;
static volatile long sum;
static unsigned seed = 4711;

#define CALLED __attribute__((noinline, noclone, noipa))

static CALLED unsigned next(void) {
  current->calls++;
  seed = seed * 1103515245 + 12345;
  return seed >> 16;
}

/* Once ahead of the change and once behind, when it still runs on the old stack. */
static CALLED void note(struct task *old) {
  old->calls++;
  __asm__ volatile("" ::: "memory");
}

CALLED int switch_to(struct task *from, struct task *to) {
  from->calls++;
  note(from);
  current = to;
  note(from);
  swapcontext(&from->context, &to->context);
  note(from);
  return from->depth + 1;
}

static CALLED void in_interrupt(int n) {
  in_handler++;
  if (n > 0) {
    in_interrupt(n - 1);
  }
  sum++;
}

CALLED int on_interrupt(int n) {
  in_handler++;
  handled++;
  in_interrupt(n);
  in_interrupt(1);
  return n;
}

CALLED void end_task(struct task *self) {
  self->calls++;
  self->ready = 0;
  switch_to(self, &task_main);
}

static CALLED void work(int n) {
  current->calls++;
  unsigned what = next() % 8;
  if (n > 0) {
    if (what < 3) {
      sum += switch_to(current, &task_main);
    } else if (what == 3) {
      sum += on_interrupt(n);
    } else if (what == 4) {
      work(n - 1);
    }
    work(n - 1);
  }
  sum++; /* or the call would become a loop */
}

static CALLED void last(int n) {
  current->calls++;
  if (n == 0) {
    end_task(current);
  }
  last(n - 1);
  abort();
}

static CALLED void body(void) {
  current->calls++;
  work(current->depth);
  last(current->depth);
}

static CALLED void start(int i) {
  current->calls++;
  struct task *task = &tasks[i];
  getcontext(&task->context);
  task->context.uc_stack.ss_sp = stacks[i];
  task->context.uc_stack.ss_size = STACK;
  makecontext(&task->context, body, 0);
  task->ready = 1;
  task->depth = 3 + i;
}

int main(void) {
  current->calls++;
  int starts = 0, left = 1;
  while (starts < STARTS || left) {
    unsigned i = next() % SLOTS;
    if (!tasks[i].ready && starts < STARTS) {
      start((int)i);
      starts++;
    }
    if (tasks[i].ready) {
      sum += switch_to(current, &tasks[i]);
    }
    if (next() % 16 == 0) {
      sum += on_interrupt(2);
    }
    left = 0;
    for (int j = 0; j < SLOTS; j++) left += tasks[j].ready;
  }
  printf("main %ld\n", task_main.calls);
  for (int i = 0; i < SLOTS; i++) printf("%p %ld\n", (void *)&tasks[i], tasks[i].calls);
  printf("interrupts %ld %ld\n", in_handler, handled);
  return sum > 0 ? 0 : 1;
}
