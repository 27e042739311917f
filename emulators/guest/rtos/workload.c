// Seven tasks and their workers, each with call trees of another kind, cut into pieces by the timer. What a task calls does
// not depend on when it is interrupted, so its tree is one, whatever the schedule; each checks its own results.
#include "rtos.h"

enum { BLINKS = 6, ITEMS = 12, LEAPS = 6, JUMPS = 9, EVENTS = 4, WORKERS = 5, MOVES = 5 };

#define TASK_CHECK(self, code, condition) \
  do {                                    \
    if (!(condition)) {                   \
      (self)->failed = (code);            \
      return;                             \
    }                                     \
  } while (0)

static struct rtos_semaphore ended;
static struct rtos_mutex till = RTOS_MUTEX;
static struct rtos_queue belt = RTOS_QUEUE;
static volatile long left_purse = 1000, right_purse;

// ---- what tasks call

TRACED long task_fib(long n) { return n < 2 ? n : task_fib(n - 1) + task_fib(n - 2); }

TRACED long task_odd(long n);

TRACED long task_even(long n) { return n == 0 ? 0 : 1 + task_odd(n - 1); }

TRACED long task_odd(long n) { return n == 0 ? 0 : 1 + task_even(n - 1); }

// Calls whose shape is decided by a generator: no two alike, but the same in each run.
TRACED unsigned long task_wander(unsigned long seed, int depth) {
  seed = (seed * 1103515245UL + 12345) & 0x7fffffffUL;
  for (unsigned i = 0; depth > 0 && i < (seed >> 16 & 3); i++) seed = task_wander(seed + i, depth - 1);
  return seed;
}

TRACED long task_spin(long rounds) {
  volatile long sum = 0;
  for (long i = 0; i < rounds; i++) sum = sum + i;
  return sum;
}

// Takes the purses apart for longer than a tick: only the lock keeps others from seeing it.
TRACED int task_move(long amount) {
  rtos_lock(&till);
  long before = left_purse + right_purse;
  left_purse = left_purse - amount;
  task_spin(60);
  right_purse = right_purse + amount;
  int right = before == 1000 && left_purse + right_purse == 1000 && till.owner == rtos_current;
  rtos_unlock(&till);
  return right;
}

// ---- tasks

TRACED void blinker_run(struct rtos_task *self) {
  unsigned long before = rtos_ticks;
  for (int i = 0; i < BLINKS; i++) {
    rtos_sleep(2);
    TASK_CHECK(self, 1, rtos_ticks - before >= 2);
    before = rtos_ticks;
    TASK_CHECK(self, 2, task_fib(i) == (i < 2 ? i : i < 4 ? i - 1 : 2 * i - 5));
  }
}

TRACED void producer_run(struct rtos_task *self) {
  for (long i = 0; i < ITEMS; i++) {
    rtos_put(&belt, task_fib(3 + i % 4));
    if (i % 4 == 0) TASK_CHECK(self, 1, task_move(7));
  }
}

TRACED void consumer_run(struct rtos_task *self) {
  static const long fibs[] = {2, 3, 5, 8};
  for (long i = 0; i < ITEMS; i++) {
    long value = rtos_get(&belt);
    TASK_CHECK(self, 1, value == fibs[i % 4]);
    TASK_CHECK(self, 2, task_even(value) == value);
    if (i % 4 == 1) TASK_CHECK(self, 3, task_move(-3));
  }
}

static zoo_jmp_buf ledge;
static volatile long ledge_height;

TRACED void jumper_climb(long height) {
  task_spin(20);
  if (height > 0) {
    jumper_climb(height - 1);
  } else if (ledge_height == 0) {
    zoo_longjmp(&ledge, 5);
  }
  task_spin(1);
}

TRACED void jumper_run(struct rtos_task *self) {
  for (volatile long i = 0; i < LEAPS; i = i + 1) {
    int value = zoo_setjmp(&ledge);
    if (value == 0) jumper_climb(i);
    TASK_CHECK(self, 1, value == 5);
    TASK_CHECK(self, 2, task_odd(i) == i);
    rtos_yield();
  }
}

long tail_start(long rounds, long count);

TRACED void tailer_run(struct rtos_task *self) {
  for (long i = 1; i < JUMPS; i++) {
    TASK_CHECK(self, 1, tail_start(i, 0) == i);
    TASK_CHECK(self, 2, i % 3 != 0 || task_move(1));
  }
}

TRACED void listener_run(struct rtos_task *self) {
  for (int i = 0; i < EVENTS; i++) {
    rtos_wait(&rtos_device);
    TASK_CHECK(self, 1, task_wander((unsigned long)i, 4) != 0);
  }
}

TRACED void worker_run(struct rtos_task *self) {
  TASK_CHECK(self, 1, task_wander((unsigned long)self->argument * 77, 5) < 0x80000000UL);
  for (int i = 0; i < MOVES; i++) TASK_CHECK(self, 2, task_spin(self->argument * 10) >= 0);
}

UNTRACED static void with_end(struct rtos_task *self);

RTOS_TASK(task_worker, 3, with_end);

TRACED void spawner_run(struct rtos_task *self) {
  for (long i = 1; i <= WORKERS; i++) {
    rtos_create(&task_worker, i);
    while (task_worker.state != RTOS_ENDED) {
    }
    TASK_CHECK(self, 1, task_worker.failed == 0);
    TASK_CHECK(self, 2, rtos_stack_left(&task_worker) == RTOS_STACK_SPARE);
  }
}

UNTRACED static void idle_run(struct rtos_task *self) {
  for (;;) self->argument = self->argument + 1;
}

RTOS_TASK(task_blinker, 6, with_end);
RTOS_TASK(task_listener, 5, with_end);
RTOS_TASK(task_producer, 3, with_end);
RTOS_TASK(task_consumer, 4, with_end);
RTOS_TASK(task_jumper, 3, with_end);
RTOS_TASK(task_tailer, 3, with_end);
RTOS_TASK(task_spawner, 2, with_end);
RTOS_TASK(task_idle, 0, idle_run);

static const struct {
  struct rtos_task *task;
  void (*run)(struct rtos_task *self);
} plan[] = {
    {&task_blinker, blinker_run}, {&task_listener, listener_run}, {&task_producer, producer_run},
    {&task_consumer, consumer_run}, {&task_jumper, jumper_run},   {&task_tailer, tailer_run},
    {&task_spawner, spawner_run}, {&task_worker, worker_run},
};

enum { PLANNED = sizeof plan / sizeof plan[0], STARTED = PLANNED - 1 };

// Runs a task's own function, then tells that it is done; the worker's spawner looks at its state instead.
UNTRACED static void with_end(struct rtos_task *self) {
  for (int i = 0; i < PLANNED; i++) {
    if (plan[i].task == self) plan[i].run(self);
  }
  if (self != &task_worker) rtos_post(&ended);
}

// Codes: 1 no interrupt controller (start with --timer); 10 to 59 a task's check; 60 a stack; 70 the kernel's counters.
ZOO_PROGRAM(rtos, 1) {
  CHECK(1, rtos_start());
  rtos_create(&task_idle, 0);
  for (long round = 0; round < argument; round++) {
    for (int i = 0; i < STARTED; i++) rtos_create(plan[i].task, 0);
    for (int i = 0; i < STARTED; i++) rtos_wait(&ended);
    for (int i = 0; i < PLANNED; i++) {
      CHECK(10 + 5 * i + plan[i].task->failed, plan[i].task->failed == 0);
      CHECK(60, rtos_stack_left(plan[i].task) == RTOS_STACK_SPARE);
    }
  }
  rtos_stop();
  CHECK(70, left_purse + right_purse == 1000 && rtos_switches > rtos_preemptions);
  CHECK(71, rtos_preemptions > 0);
  return 0;
}
