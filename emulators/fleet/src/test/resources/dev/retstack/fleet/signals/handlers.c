// Handlers are called the number of times that the program counts itself.
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
static volatile int counts[65], nested, worked, onAlternate, infos;
static char alternate[65536];
static sigjmp_buf back;
static volatile double keeps = 1.5;

APART void work(void) { worked++; }

APART void count(int signal) {
  counts[signal]++;
  work();
}

APART void outer(int signal) {
  counts[signal]++;
  work();
  raise(SIGUSR2);  // runs before this goes on
  nested += counts[SIGUSR2];
  work();
}

APART void onStack(int signal, siginfo_t *info, void *context) {
  char here;
  counts[signal]++;
  work();
  onAlternate += &here >= alternate && &here < alternate + sizeof alternate;
  infos += info->si_signo == signal && info->si_pid == getpid() && context != 0;
}

APART void jumps(int signal) {
  counts[signal]++;
  work();
  siglongjmp(back, signal);
}

APART void install(int signal, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (sigaction(signal, &action, 0) != 0) printf("sigaction %d fails\n", signal);
}

APART void each(void) {
  for (int s = 1; s <= 60; s++) {
    if (s == SIGKILL || s == SIGSTOP || s == 32 || s == 33) continue;
    install(s, count, 0);
    raise(s);
    raise(s);
    signal(s, SIG_DFL);
  }
  int sum = 0, ones = 0;
  for (int s = 1; s <= 60; s++) sum += counts[s], ones += counts[s] == 2;
  printf("each %d %d\n", sum, ones);
  memset((void *)counts, 0, sizeof counts);
}

APART void masks(void) {
  sigset_t set, before, pending;
  install(SIGUSR1, count, 0);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, &before);
  install(SIGRTMIN, count, 0);
  for (int i = 0; i < 3; i++) raise(SIGUSR1), raise(SIGRTMIN);
  sigpending(&pending);
  printf("masks %d %d %d %d\n", counts[SIGUSR1], sigismember(&pending, SIGUSR1), sigismember(&pending, SIGRTMIN),
         sigismember(&pending, SIGHUP));
  sigprocmask(SIG_SETMASK, &before, 0);
  printf("masks %d %d\n", counts[SIGUSR1], counts[SIGRTMIN]);
  raise(SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, 0);
  kill(getpid(), SIGUSR1);
  sigemptyset(&set);
  printf("suspend %d", sigsuspend(&set));
  printf(" %d %d\n", errno == EINTR, counts[SIGUSR1]);
  sigaddset(&set, SIGRTMIN);
  union sigval value = {.sival_int = 77};
  sigqueue(getpid(), SIGRTMIN, value);
  siginfo_t info;
  int got = sigtimedwait(&set, &info, 0);
  printf("wait %d %d %d\n", got == SIGRTMIN, info.si_value.sival_int, info.si_code == SI_QUEUE);
  struct timespec little = {0, 1000};
  got = sigtimedwait(&set, &info, &little);
  printf("wait %d %d\n", got, errno == EAGAIN);
  sigprocmask(SIG_SETMASK, &before, 0);
}

static volatile int word;
APART void changes(int signal) {
  counts[signal]++;
  word = 1;
}

// made again with all its arguments: the word is another then
APART void restarts(void) {
  struct itimerval once = {{0, 0}, {0, 1000}};
  install(SIGALRM, changes, SA_RESTART);
  setitimer(ITIMER_REAL, &once, 0);
  long result = syscall(SYS_futex, &word, 0, 0, 0);
  printf("restarts %ld %d %d\n", result, errno == EAGAIN, counts[SIGALRM]);
}

APART void order(void) {
  install(SIGUSR1, outer, 0);
  install(SIGUSR2, count, 0);
  counts[SIGUSR1] = counts[SIGUSR2] = 0;
  for (int i = 0; i < 5; i++) raise(SIGUSR1);
  printf("nested %d %d %d\n", counts[SIGUSR1], counts[SIGUSR2], nested);
  install(SIGUSR1, count, SA_RESETHAND | SA_NODEFER);
  raise(SIGUSR1);
  struct sigaction now;
  sigaction(SIGUSR1, 0, &now);
  printf("reset %d %d\n", counts[SIGUSR1], now.sa_handler == SIG_DFL);
}

APART void stacks(void) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate}, was;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigaltstack(&stack, 0);
  action.sa_sigaction = onStack;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  sigaction(SIGHUP, &action, 0);
  for (int i = 0; i < 4; i++) kill(getpid(), SIGHUP);
  sigaltstack(0, &was);
  printf("stack %d %d %d %d\n", counts[SIGHUP], onAlternate, infos, was.ss_flags);
}

// where a branch has a delay slot, a load in one
static inline int load(volatile int *from) {
#ifdef __mips__
  int value;
  asm volatile(".set noreorder\n b 1f\n lw %0, 0(%1)\n li %0, 99\n1:\n .set reorder"
               : "=&r"(value) : "r"(from) : "memory");
  return value;
#else
  return *from;
#endif
}

APART int deep(int n, int signal) {
  if (n > 0) return deep(n - 1, signal) + 1;
  raise(signal);
  return 0;
}

APART int leave(int signal, int flags) {
  install(signal, jumps, flags);
  int landed = 0;
  for (int i = 0; i < 7; i++) {
    if (sigsetjmp(back, 1) == 0) deep(i, signal);
    else landed++;
    work();
  }
  signal = landed;
  return signal;
}

APART void faults(void) {
  volatile int *nowhere = (int *)16;
  int *fixed = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int caught = 0;
  install(SIGSEGV, jumps, SA_ONSTACK);
  for (int i = 0; i < 5; i++) {
    if (sigsetjmp(back, 1) == 0) *nowhere = i;
    else caught++;
    work();
    if (sigsetjmp(back, 1) == 0) caught += 100 + load(nowhere);
    else caught++;
    if (sigsetjmp(back, 1) == 0) *(volatile int *)fixed = 1;
    else caught++;
    work();
  }
  printf("faults %d %d\n", caught, counts[SIGSEGV]);
}

static void *mine;
APART void repairs(int signal, siginfo_t *info, void *context) {
  counts[0]++;
  printf("fault %d %d %d\n", signal == SIGSEGV, info->si_code,
         (int)((char *)info->si_addr - (char *)mine));
  mprotect(mine, 4096, PROT_READ | PROT_WRITE);
}

APART void repair(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = repairs;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, 0);
  mine = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  volatile int *word = (int *)((char *)mine + 1000);
  *word = 5;
  mprotect(mine, 4096, PROT_NONE);
  printf("repaired %d\n", load(word) + load((int *)((char *)mine + 1000)));
}

APART void floating(int signal) {
  keeps = keeps * 3 + signal;
  counts[signal]++;
}

APART double sums(void) {
  double a = keeps, b = a * 2, c = b * 2;
  install(SIGTERM, floating, 0);
  raise(SIGTERM);
  asm volatile("" ::: "memory");
  return a + b + c + keeps;
}

int main(void) {
  setvbuf(stdout, 0, _IONBF, 0);
  each();
  masks();
  restarts();
  order();
  stacks();
  printf("leave %d", leave(SIGINT, 0));
  printf(" %d\n", leave(SIGINT, SA_ONSTACK));
  faults();
  repair();
  printf("%f\n", sums());
  printf("worked %d\n", worked);
  return 3;
}
