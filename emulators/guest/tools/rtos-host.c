// The interrupt controller for a native run of rtos/: tasks are contexts of the host, and nothing is preempted. Time goes on
// while there is nothing else to do: a tick interrupts the idle task only. A task's tree does not depend on that.
#include <stdlib.h>
#include <ucontext.h>

#include "../rtos/rtos.h"

#define QUIET __attribute__((no_instrument_function))

void oracle_context(const char *name);

enum { STACK_BYTES = 1 << 20, TICKS_PER_DEVICE = 3 };

struct host_frame {
  ucontext_t context;
  void (*entry)(void *);
  void *argument;
};

static struct host_frame *running;
static unsigned long ticks;

QUIET static void begin(void) { running->entry(running->argument); }

QUIET interrupt_frame_t interrupt_frame(void *top, void (*entry)(void *), void *argument) {
  (void)top;
  struct host_frame *frame = calloc(1, sizeof *frame);
  getcontext(&frame->context);
  frame->context.uc_stack.ss_sp = malloc(STACK_BYTES);
  frame->context.uc_stack.ss_size = STACK_BYTES;
  frame->entry = entry;
  frame->argument = argument;
  makecontext(&frame->context, begin, 0);
  return (interrupt_frame_t)frame;
}

QUIET static interrupt_frame_t handle(interrupt_frame_t frame, unsigned long number) {
  oracle_context("interrupt");
  return rtos_interrupt(frame, number);
}

QUIET unsigned long interrupt_trap(unsigned long number) {
  struct host_frame *here = calloc(1, sizeof *here);
  oracle_context(rtos_current->name);
  interrupt_frame_t next = handle((interrupt_frame_t)here, INTERRUPT_TRAP + number);
  while (rtos_current->priority == 0) {
    next = handle(next, RTOS_TICK);
    if (++ticks % TICKS_PER_DEVICE == 0) next = handle(next, RTOS_DEVICE);
  }
  oracle_context(rtos_current->name);
  running = (struct host_frame *)next;
  if (running != here) swapcontext(&here->context, &running->context);
  return 0;
}

QUIET unsigned long interrupt_mask(unsigned long masked) { return masked; }
