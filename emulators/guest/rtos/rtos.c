// The kernel. The handler is traced like all else: its trees are those of interrupts.
#include "rtos.h"

enum { TASKS = 16 };

#define CANARY (0x5afe57acUL)
#define FRESH (0x6e657721UL)

struct rtos_task task_first = {.name = "task_first", .priority = 1};
struct rtos_task *volatile rtos_current = &task_first;
volatile unsigned long rtos_ticks, rtos_switches, rtos_preemptions;
struct rtos_semaphore rtos_device;

static struct rtos_task *tasks[TASKS];
static unsigned long turns;

TRACED void rtos_make_ready(struct rtos_task *task) {
  task->state = RTOS_READY;
  task->turn = ++turns;
}

TRACED void rtos_wake_sleepers(void) {
  for (int i = 0; i < TASKS; i++) {
    if (tasks[i] != 0 && tasks[i]->state == RTOS_ASLEEP && (long)(rtos_ticks - tasks[i]->wake_at) >= 0) {
      rtos_make_ready(tasks[i]);
    }
  }
}

TRACED void rtos_wake_one(struct rtos_semaphore *semaphore) {
  struct rtos_task *first = 0;
  for (int i = 0; i < TASKS; i++) {
    struct rtos_task *t = tasks[i];
    if (t == 0 || t->state != RTOS_BLOCKED || t->waits_for != semaphore) continue;
    if (first == 0 || t->priority > first->priority || (t->priority == first->priority && t->turn < first->turn)) first = t;
  }
  if (first == 0) {
    semaphore->count++;
  } else {
    rtos_make_ready(first);
  }
}

TRACED struct rtos_task *rtos_pick(void) {
  struct rtos_task *best = 0;
  for (int i = 0; i < TASKS; i++) {
    struct rtos_task *t = tasks[i];
    if (t == 0 || t->state != RTOS_READY) continue;
    if (best == 0 || t->priority > best->priority || (t->priority == best->priority && t->turn < best->turn)) best = t;
  }
  return best;
}

UNTRACED static void rtos_main(void *argument) {
  struct rtos_task *self = argument;
  self->run(self);
  interrupt_trap(RTOS_END);
  for (;;) {
  }
}

TRACED void rtos_prepare(struct rtos_task *task) {
  int free = -1;
  for (int i = 0; i < TASKS && free < 0; i++) {
    if (tasks[i] == task || tasks[i] == 0) free = i;
  }
  task->stack[0] = CANARY;
  for (unsigned long i = 1; i < task->stack_words; i++) task->stack[i] = FRESH;
  task->failed = 0;
  task->frame = interrupt_frame(task->stack + task->stack_words, rtos_main, task);
  tasks[free] = task;
  rtos_make_ready(task);
}

TRACED void rtos_answer(struct rtos_task *task, enum rtos_call call) {
  struct rtos_semaphore *semaphore = task->object;
  switch (call) {
    case RTOS_YIELD: task->turn = ++turns; break;
    case RTOS_SLEEP:
      task->state = RTOS_ASLEEP;
      task->wake_at = rtos_ticks + task->ticks;
      break;
    case RTOS_WAIT:
      if (semaphore->count > 0) {
        semaphore->count--;
      } else {
        task->state = RTOS_BLOCKED;
        task->turn = ++turns;
        task->waits_for = semaphore;
      }
      break;
    case RTOS_POST: rtos_wake_one(semaphore); break;
    case RTOS_CREATE: rtos_prepare(task->object); break;
    case RTOS_END: task->state = RTOS_ENDED; break;
  }
}

TRACED interrupt_frame_t rtos_interrupt(interrupt_frame_t frame, unsigned long number) {
  struct rtos_task *before = rtos_current;
  before->frame = frame;
  if (number == RTOS_TICK) {
    rtos_ticks++;
    before->turn = ++turns;
    rtos_wake_sleepers();
  } else if (number == RTOS_DEVICE) {
    rtos_wake_one(&rtos_device);
  } else {
    rtos_answer(before, (enum rtos_call)(number - INTERRUPT_TRAP));
  }
  struct rtos_task *next = rtos_pick();
  if (next != before) {
    rtos_switches++;
    if (number < INTERRUPT_TRAP) rtos_preemptions++;
    rtos_current = next;
  }
  return next->frame;
}

TRACED void rtos_yield(void) { interrupt_trap(RTOS_YIELD); }

TRACED void rtos_sleep(unsigned long ticks) {
  rtos_current->ticks = ticks;
  interrupt_trap(RTOS_SLEEP);
}

TRACED void rtos_wait(struct rtos_semaphore *semaphore) {
  rtos_current->object = semaphore;
  interrupt_trap(RTOS_WAIT);
}

TRACED void rtos_post(struct rtos_semaphore *semaphore) {
  rtos_current->object = semaphore;
  interrupt_trap(RTOS_POST);
}

TRACED void rtos_create(struct rtos_task *task, long argument) {
  task->argument = argument;
  rtos_current->object = task;
  interrupt_trap(RTOS_CREATE);
}

TRACED void rtos_lock(struct rtos_mutex *mutex) {
  rtos_wait(&mutex->free);
  mutex->owner = rtos_current;
}

TRACED void rtos_unlock(struct rtos_mutex *mutex) {
  mutex->owner = 0;
  rtos_post(&mutex->free);
}

TRACED void rtos_put(struct rtos_queue *queue, long value) {
  rtos_wait(&queue->room);
  queue->values[queue->put++ % RTOS_QUEUE_ITEMS] = value;
  rtos_post(&queue->items);
}

TRACED long rtos_get(struct rtos_queue *queue) {
  rtos_wait(&queue->items);
  long value = queue->values[queue->taken++ % RTOS_QUEUE_ITEMS];
  rtos_post(&queue->room);
  return value;
}

TRACED int rtos_start(void) {
  tasks[0] = &task_first;
  rtos_make_ready(&task_first);
  if (interrupt_trap(RTOS_YIELD) != 0) return 0;
  interrupt_mask(0);
  return 1;
}

TRACED void rtos_stop(void) { interrupt_mask(1); }

TRACED long rtos_stack_left(const struct rtos_task *task) {
  unsigned long left = 0;
  if (task->stack[0] != CANARY) return -1;
  while (left < RTOS_STACK_SPARE && task->stack[left + 1] == FRESH) left++;
  return (long)left;
}
