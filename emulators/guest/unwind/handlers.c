/*
 * Stacks with handlers by chance: functions call, raise signals whose handlers run on the same stack or on a separate one,
 * fault, call functions on other stacks, and start coroutines. Anywhere an unwinder takes a backtrace or runs clean-ups up
 * to a function that catches. It crosses from each stack to the one that it was left for.
 *
 *   handlers SEED   prints its calls (log.h) and what unwinders find
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unwind.h>

#include "log.h"

enum { OTHERS = 3, BYTES = 512 * 1024, DEEP = 300, LEVELS = 60 };

static char separate[BYTES], others[OTHERS][BYTES];

/* A function that catches: its clean-up goes back to its setjmp. */
struct target {
  jmp_buf back;
  const char *volatile owner;
  int context, handlers, level, depth, used, apart;
  struct target *before;
};

static struct target *target; /* the innermost one on the stacks that are joined */
static int context, contexts; /* a handler, a coroutine and a function on another stack have their own */
static int handlers;          /* that are open: no other stacks begin in them */
static int level;             /* functions of this program that are open */
static int depth;             /* of these, on the stacks that are joined */
static int used;              /* other stacks that are in use */
static enum { FREE, HERE, AWAY } apart; /* the separate stack: a handler that comes while it is AWAY would overwrite it */
static int coroutines;        /* that are open */
static int steps;
static unsigned long long seed;
static int *volatile nowhere = (int *)16;

UNTRACED static int chance(int below) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((seed >> 33) % (unsigned)below);
}

UNTRACED static void goes_on(int in) {
  context = in;
  if (in == 0) {
    say('@', "main");
  } else {
    printf("@context%d\n", in);
  }
}

UNTRACED static int begins(void) {
  int before = context;
  goes_on(++contexts);
  return before;
}

/* Numbers in memory: a function must not keep them in registers that a jump does not restore. */
#define ENTER() (IN(), level++, depth++)
#define LEAVE() (level--, depth--, OUT())

struct found {
  int frames;
  unsigned hash;
};

UNTRACED static _Unwind_Reason_Code count(struct _Unwind_Context *frame, void *data) {
  struct found *found = data;
  found->frames++;
  found->hash = (found->hash ^ (unsigned)(uintptr_t)_Unwind_GetIP(frame)) * 16777619U;
  return _URC_NO_REASON;
}

UNTRACED static void backtraces(void) {
  struct found found = {0, 2166136261U};
  _Unwind_Backtrace(count, &found);
  if (found.frames < depth) {
    printf("too few frames\n");
  } else if (coroutines == 0) { /* behind the start of one riscv's unwinder reads what was never written */
    printf("frames %d %08x\n", found.frames, found.hash);
  }
}

UNTRACED static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                         struct _Unwind_Exception *thrown, struct _Unwind_Context *frame, void *data) {
  (void)version, (void)kind, (void)thrown, (void)frame, (void)data;
  if (actions & _UA_END_OF_STACK) {
    printf("nobody catches\n");
    exit(1);
  }
  return _URC_NO_REASON;
}

UNTRACED static void throws(void) {
  static struct _Unwind_Exception thrown;
  printf("throws\n");
  _Unwind_ForcedUnwind(&thrown, stop, NULL);
}

TRACED void leaf(void) {
  IN();
  OUT();
}

struct guard {
  const char *owner;
  int context, handlers, level, depth, apart;
  volatile int over; /* gcc 12 drops its first store for aarch64 */
};

UNTRACED static void clean(struct guard *guard) {
  if (!guard->over) {
    goes_on(guard->context);
    say('^', guard->owner);
    handlers = guard->handlers;
    level = guard->level;
    depth = guard->depth;
    apart = guard->apart;
    leaf();
    say('!', guard->owner);
  }
}

UNTRACED static void some(void);

/* Many frames, each with a clean-up. */
TRACED void dive(int n) {
  IN();
  depth++;
  struct guard guard __attribute__((cleanup(clean))) = {__func__, context, handlers, level, depth, apart, 0};
  if (n > 0) {
    dive(n - 1);
  } else {
    some();
  }
  guard.over = 1;
  depth--;
  OUT();
}

UNTRACED static void caught(struct target *here) {
  if (here->owner != NULL) {
    longjmp(here->back, 1);
  }
}

UNTRACED static void step(void);

UNTRACED static void some(void) {
  while (steps > 0 && chance(5) > 0) {
    steps--;
    step();
  }
}

TRACED void plain(void) {
  ENTER();
  some();
  LEAVE();
}

TRACED void guarded(void) {
  ENTER();
  struct guard guard __attribute__((cleanup(clean))) = {__func__, context, handlers, level, depth, apart, 0};
  some();
  LEAVE();
  guard.over = 1;
}

TRACED void catches(void) {
  ENTER();
  struct target own __attribute__((cleanup(caught))) = {.owner = __func__, .context = context, .level = level};
  own.handlers = handlers;
  own.depth = depth;
  own.used = used;
  own.apart = apart;
  own.before = target;
  target = &own;
  if (setjmp(own.back) == 0) {
    some();
  } else {
    goes_on(own.context);
    LANDED();
    handlers = own.handlers;
    level = own.level;
    depth = own.depth;
    used = own.used;
    apart = own.apart;
  }
  target = own.before;
  own.owner = NULL;
  leaf();
  LEAVE();
}

TRACED void on_signal(int number) {
  int before = begins(), apart_before = apart;
  apart = number == SIGUSR1 ? apart : HERE;
  handlers++;
  ENTER();
  some();
  if (number == SIGSEGV) {
    throws();
  }
  LEAVE();
  handlers--;
  apart = apart_before;
  goes_on(before);
}

TRACED void faults(void) {
  ENTER();
  *nowhere = 1;
  LEAVE();
}

TRACED void on_other(void) {
  int before = begins();
  ENTER();
  some();
  LEAVE();
  goes_on(before);
}

/* Calls a function on another stack; unwinders come back by the frame pointer. */
void call_on(void *top, void (*function)(void));
#if defined __x86_64__
__asm__(".text\n.globl call_on\n.type call_on, @function\ncall_on:\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register %rbp\nmov %rdi, %rsp\ncall *%rsi\nmov %rbp, %rsp\n"
        "pop %rbp\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n.size call_on, . - call_on\n");
#define CAN_CALL_ON 1
#elif defined __aarch64__
__asm__(".text\n.globl call_on\n.type call_on, @function\ncall_on:\n.cfi_startproc\nstp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n.cfi_offset x29, -16\n.cfi_offset x30, -8\nmov x29, sp\n.cfi_def_cfa_register x29\n"
        "mov sp, x0\nblr x1\nmov sp, x29\nldp x29, x30, [sp], #16\nret\n.cfi_endproc\n.size call_on, . - call_on\n");
#define CAN_CALL_ON 1
#else
#define CAN_CALL_ON 0
#endif

static ucontext_t around[OTHERS];

TRACED void coroutine(void) {
  begins();
  ENTER();
  some();
  LEAVE();
}

UNTRACED static void starts(void) {
  struct target *const target_before = target;
  int own = used++, depth_before = depth, context_before = context, apart_before = apart;
  ucontext_t begun;
  getcontext(&begun);
  begun.uc_stack.ss_sp = others[own];
  begun.uc_stack.ss_size = BYTES;
  begun.uc_link = &around[own];
  makecontext(&begun, coroutine, 0);
  target = NULL;
  depth = 0;
  apart = apart == FREE ? FREE : AWAY;
  coroutines++;
  swapcontext(&around[own], &begun);
  coroutines--;
  target = target_before;
  depth = depth_before;
  used = own;
  apart = apart_before;
  goes_on(context_before);
}

UNTRACED static void step(void) {
  int what = chance(20);
  if (what == 0 && depth < DEEP && used == 0) {
    dive(chance(DEEP));
  } else if (what < 3 || level >= LEVELS) {
    backtraces();
  } else if (what < 5) {
    plain();
  } else if (what < 8) {
    guarded();
  } else if (what < 10) {
    catches();
  } else if (what < 12) {
    raise(SIGUSR1);
  } else if (what < 14 && apart != AWAY) {
    raise(SIGUSR2);
  } else if (what < 16 && used < OTHERS && handlers == 0) {
    if (CAN_CALL_ON && chance(2)) {
      int apart_before = apart;
      apart = apart == FREE ? FREE : AWAY;
      used++;
      call_on(others[used - 1] + BYTES, on_other);
      used--;
      apart = apart_before;
    } else {
      starts();
    }
  } else if (what < 18 && target != NULL) {
    throws();
  } else if (target != NULL && apart != AWAY) {
    faults();
  } else {
    leaf();
  }
}

TRACED void whole(void) {
  ENTER();
  for (steps = 100; steps > 0; steps--) {
    step();
  }
  LEAVE();
}

UNTRACED int main(int argc, char **argv) {
  seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  stack_t stack = {.ss_sp = separate, .ss_size = sizeof separate};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
  sigaction(SIGUSR1, &action, NULL);
  action.sa_flags |= SA_ONSTACK;
  sigaction(SIGUSR2, &action, NULL);
  sigaction(SIGSEGV, &action, NULL);
  whole();
  return 0;
}
