// How a program ends by a signal; the first argument says which.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

__attribute__((noinline)) void repairsNothing(int signal) {}
__attribute__((noinline)) void faultsToo(int signal) { *(volatile int *)8 = 1; }
#ifdef __mips__
__attribute__((noinline)) void trapsTwice(int by) { asm volatile("teq %0, $0, 7\n teq %0, $0, 7" ::"r"(by)); }
#endif
static char alternate[16384];

static void install(int signal, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, 0);
}

int main(int argc, char **argv) {
  struct itimerval soon = {{0, 0}, {0, 1000}};
  switch (atoi(argv[1])) {
    case 0: raise(SIGTERM); break;
    case 1: setitimer(ITIMER_REAL, &soon, 0); pause(); break;
    case 2: kill(getpid(), SIGSTOP); break;
    case 3: pause(); break;
    case 4: install(SIGSEGV, faultsToo, 0); faultsToo(0); break;
    case 5: install(SIGSEGV, faultsToo, SA_NODEFER); faultsToo(0); break;
    case 6: install(SIGSEGV, (void (*)(int))64, SA_NODEFER); faultsToo(0); break;
    case 7: install(SIGSEGV, repairsNothing, 0); faultsToo(0); break;
    case 8:
      sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, 0);
      install(SIGSEGV, faultsToo, SA_NODEFER | SA_ONSTACK);
      faultsToo(0);
      break;
    case 9: setitimer(ITIMER_VIRTUAL, &soon, 0); pause(); break;
    case 10:
      install(SIGALRM, SIG_IGN, 0);
      soon.it_interval.tv_usec = 1;
      setitimer(ITIMER_REAL, &soon, 0);
      pause();
      break;
    case 11: abort();
#ifdef __mips__
    case 12: install(SIGFPE, repairsNothing, 0); trapsTwice(0); break;
#endif
  }
  return 0;
}
