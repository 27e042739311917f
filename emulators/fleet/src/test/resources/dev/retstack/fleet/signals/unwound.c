/*
 * Unwinders that begin in a signal handler: they find the functions that it interrupted, and leave them. Prints the
 * same on every architecture.
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <unwind.h>

#define APART __attribute__((noinline, noclone))
#define BEHIND() __asm__ volatile("" ::: "memory")

enum { MOST = 64, SEPARATE = 256 * 1024, LONGEST = 2000 };

static int *volatile nowhere = (int *)16;
static jmp_buf back;

static void cleaned(const char **name) {
  printf(" %s", *name);
}
/* An unwinder that leaves the function prints its name. A return does so, too. */
#define CLEANED const char *cleanup_ __attribute__((cleanup(cleaned))) = __func__

void asks(int), answers(int, siginfo_t *, void *), faults(void), raises(void), inner(void (*)(void));
void middle(void (*)(void)), outer(void (*)(void)), waits(void), spins(void), sends(void);
void look(void);
int main(void);

#define NAMED(f) {#f, (void *)f}
static const struct {
  const char *name;
  void *start;
} named[] = {NAMED(asks),  NAMED(answers), NAMED(faults), NAMED(raises), NAMED(inner),
             NAMED(middle), NAMED(outer),  NAMED(main), NAMED(look)};

/* The function that begins nearest below an address. */
static const char *function(uintptr_t pc) {
  const char *found = NULL;
  uintptr_t nearest = LONGEST;
  for (unsigned i = 0; i < sizeof named / sizeof *named; i++) {
    uintptr_t start = (uintptr_t)named[i].start;
#if defined __powerpc64__ && _CALL_ELF != 2
    start = *(uintptr_t *)start; /* a descriptor */
#endif
    start &= ~(uintptr_t)1; /* Thumb */
    if (pc >= start && pc - start < nearest) {
      nearest = pc - start;
      found = named[i].name;
    }
  }
  return found;
}

static void name(uintptr_t pc) {
  static const char *last;
  const char *found = function(pc);
  if (found != NULL && found != last) {
    printf(" %s", found);
  }
  last = found;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *data) {
  name(_Unwind_GetIP(frame));
  return _URC_NO_REASON;
}

APART void look(void) {
  void *found[MOST];
  int count = backtrace(found, MOST);
  printf("\nbacktrace");
  for (int i = 0; i < count; i++) {
    name((uintptr_t)found[i]);
  }
  printf("\nunwinder");
  _Unwind_Backtrace(step, NULL);
  printf("\n");
}

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                struct _Unwind_Exception *thrown, struct _Unwind_Context *frame, void *data) {
  if (actions & _UA_END_OF_STACK) {
    longjmp(back, 1);
  }
  return _URC_NO_REASON;
}

APART void asks(int signal) {
  CLEANED;
  look();
  if (signal == SIGSEGV) {
    static struct _Unwind_Exception thrown;
    printf("leaves");
    _Unwind_ForcedUnwind(&thrown, stop, NULL);
  }
  BEHIND();
}

APART void answers(int signal, siginfo_t *info, void *context) {
  CLEANED;
  asks(signal);
}

APART void faults(void) {
  *nowhere = 1;
}

APART void raises(void) {
  CLEANED;
  raise(SIGUSR1);
}

APART void inner(void (*what)(void)) {
  CLEANED;
  what();
}

APART void middle(void (*what)(void)) {
  CLEANED;
  inner(what);
}

APART void outer(void (*what)(void)) {
  CLEANED;
  middle(what);
}

static void handle(int flags) {
  struct sigaction action = {.sa_flags = flags | SA_NODEFER};
  if (flags & SA_SIGINFO) {
    action.sa_sigaction = answers;
  } else {
    action.sa_handler = asks;
  }
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGSEGV, &action, NULL);
}

#ifndef ALONE
/* Threads that others end where they wait and where they run, and one that ends itself in a handler. */

static volatile int ready;

APART void waits(void) {
  CLEANED;
  ready = 1;
  for (;;) {
    pause();
  }
}

APART void spins(void) {
  CLEANED;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  ready = 1;
  for (;;) {
    BEHIND();
  }
}

APART void ends(int signal) {
  CLEANED;
  pthread_exit((void *)42);
}

APART void sends(void) {
  CLEANED;
  ready = 1;
  pthread_kill(pthread_self(), SIGUSR2);
}

static void *thread(void *what) {
  outer((void (*)(void))what);
  return NULL;
}

static void run(const char *name, void (*what)(void), int cancels) {
  pthread_t id;
  void *result;
  ready = 0;
  printf("%s", name);
  fflush(stdout);
  pthread_create(&id, NULL, thread, (void *)what);
  while (!ready) {
    usleep(1000);
  }
  if (cancels) {
    usleep(1000);
    pthread_cancel(id);
  }
  pthread_join(id, &result);
  printf(" = %s\n", result == PTHREAD_CANCELED ? "cancelled" : result == (void *)42 ? "ended" : "returned");
}

static void threads(void) {
  struct sigaction action = {.sa_handler = ends};
  sigaction(SIGUSR2, &action, NULL);
  run("cancelled where it waits:", waits, 1);
  run("cancelled where it runs:", spins, 1);
  run("ends in a handler:", sends, 0);
}
#else
static void threads(void) {}
#endif

int main(void) {
  static char separate[SEPARATE];
  stack_t stack = {.ss_sp = separate, .ss_size = sizeof separate};
  sigaltstack(&stack, NULL);
  for (int flags = 0; flags < 4; flags++) {
    printf("%s%s:\n", flags & 1 ? "SA_SIGINFO" : "none", flags & 2 ? ", SA_ONSTACK" : "");
    handle((flags & 1 ? SA_SIGINFO : 0) | (flags & 2 ? SA_ONSTACK : 0));
    outer(raises);
    printf("\n");
    if (setjmp(back) == 0) {
      outer(faults);
    }
    printf("\n");
  }
  threads();
  return 0;
}
