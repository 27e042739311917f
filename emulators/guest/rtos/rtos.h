// A small preemptive kernel: priorities, round robin among equals, counting semaphores, mutexes, queues, sleep, tasks that
// end and whose memory is used again. All that changes shared state runs in the interrupt handler, where nothing
// interrupts: a task asks for it by a trap.
#ifndef RETSTACK_RTOS_H
#define RETSTACK_RTOS_H

#include "interrupts.h"

enum { RTOS_STACK_WORDS = 1024, RTOS_QUEUE_ITEMS = 4, RTOS_STACK_SPARE = 64 };

// Timers of the core, by number.
enum { RTOS_TICK = 0, RTOS_DEVICE = 1 };

enum rtos_state { RTOS_UNUSED, RTOS_READY, RTOS_BLOCKED, RTOS_ASLEEP, RTOS_ENDED };

struct rtos_semaphore {
  volatile long count;
};

// One of these: how a task waits, and what it asks for.
enum rtos_call {
  RTOS_YIELD,
  RTOS_SLEEP,   // argument: ticks
  RTOS_WAIT,    // object: semaphore
  RTOS_POST,    // object: semaphore
  RTOS_CREATE,  // object: task
  RTOS_END
};

struct rtos_task {
  interrupt_frame_t frame;
  const char *name;
  volatile enum rtos_state state;
  int priority;           // the higher runs first
  unsigned long turn;     // of equals, who waits longest runs first
  unsigned long wake_at;  // tick
  struct rtos_semaphore *waits_for;
  void (*run)(struct rtos_task *self);
  long argument;
  volatile int failed;  // code of the check that failed; 0: none
  unsigned long *stack;
  unsigned long stack_words;
  // what the task asks the handler for
  void *object;
  unsigned long ticks;
};

struct rtos_mutex {
  struct rtos_semaphore free;
  struct rtos_task *volatile owner;
};

struct rtos_queue {
  struct rtos_semaphore items, room;
  volatile unsigned put, taken;
  volatile long values[RTOS_QUEUE_ITEMS];
};

#define RTOS_MUTEX {.free = {1}}
#define RTOS_QUEUE {.items = {0}, .room = {RTOS_QUEUE_ITEMS}}

// Defines a task and its stack.
#define RTOS_TASK(task, priority_, function)                                                        \
  static unsigned long stack_of_##task[RTOS_STACK_WORDS] __attribute__((aligned(16)));              \
  struct rtos_task task = {.name = #task, .priority = (priority_), .run = (function),               \
                           .stack = stack_of_##task, .stack_words = RTOS_STACK_WORDS}

// The task that runs; on whose behalf the handler runs.
extern struct rtos_task *volatile rtos_current;

extern volatile unsigned long rtos_ticks, rtos_switches, rtos_preemptions;

// Posted by each interrupt of the second timer.
extern struct rtos_semaphore rtos_device;

// The program itself, on the stack that it has anyway.
extern struct rtos_task task_first;

// From here on task_first is interrupted, and may create others. False without an interrupt controller.
int rtos_start(void);

// Interrupts off for good: who calls goes on alone.
void rtos_stop(void);

void rtos_create(struct rtos_task *task, long argument);
void rtos_yield(void);
void rtos_sleep(unsigned long ticks);
void rtos_wait(struct rtos_semaphore *semaphore);
void rtos_post(struct rtos_semaphore *semaphore);
void rtos_lock(struct rtos_mutex *mutex);
void rtos_unlock(struct rtos_mutex *mutex);
void rtos_put(struct rtos_queue *queue, long value);
long rtos_get(struct rtos_queue *queue);

// Words at the end of a task's stack that were never used, RTOS_STACK_SPARE at most: how far others were used is not the
// program's to know, a counting function may have been there; -1 where the canary is gone.
long rtos_stack_left(const struct rtos_task *task);

interrupt_frame_t rtos_interrupt(interrupt_frame_t frame, unsigned long number);

#endif
