// What a handler changes in its frame is what the program goes on with; faults of each kind.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#if defined __x86_64__
#define PC(u) (u)->uc_mcontext.gregs[REG_RIP]
#define ILLEGAL "ud2"
#define TRAP "int3"
#define ASKS "mov $7, %%eax\n mov %%eax, %0"
#define DIVIDES  // by zero: an exception
#define LENGTH 2
#elif defined __i386__
#define PC(u) (u)->uc_mcontext.gregs[REG_EIP]
#define ILLEGAL "ud2"
#define TRAP "int3"
#define DIVIDES
#define LENGTH 2
#elif defined __aarch64__
#define PC(u) (u)->uc_mcontext.pc
#define ILLEGAL ".inst 0x00000000"
#define TRAP "brk #0"
#define LENGTH 4
#elif defined __riscv
#define PC(u) (u)->uc_mcontext.__gregs[REG_PC]
#define ILLEGAL ".insn 4, 0xc0001073"
#define TRAP ".option push\n.option norvc\nebreak\n.option pop"
#define LENGTH 4
#elif defined __arm__
#define PC(u) (u)->uc_mcontext.arm_pc
#define ILLEGAL ".inst 0xe7f000f0"
#define TRAP "bkpt #0"
#define LENGTH 4
#ifdef __thumb__
#undef ILLEGAL
#define ILLEGAL ".inst.w 0xf7f0a0f1"
#undef TRAP
#define TRAP ".inst.n 0xbe00\nnop"
#endif
#elif defined __s390x__
#define PC(u) (u)->uc_mcontext.psw.addr
#define ILLEGAL ".short 0"
#define TRAP ".short 1"
#define BEHIND 2
#define LENGTH 0
#elif defined __mips__
#define PC(u) (u)->uc_mcontext.pc
#define ILLEGAL ".word 0xec000000"
#define TRAP "break"
#define DIVIDES
#define LENGTH 4
#elif defined __m68k__
#define PC(u) (u)->uc_mcontext.gregs[16]
#define ILLEGAL ".short 0x4afc"
#define TRAP "trap #15"
#define LENGTH 2
#elif defined __powerpc__
#ifdef __powerpc64__
#define PC(u) (u)->uc_mcontext.gp_regs[32]
#else
#define PC(u) (u)->uc_mcontext.uc_regs->gregs[32]
#endif
#define ILLEGAL ".long 0"
#define TRAP "trap"
#define LENGTH 4
#endif
#define FAIL(code) asm volatile(code ::: "memory")
#ifdef __thumb__
#define THUMB 1ul
#else
#define THUMB 0ul
#endif
#ifndef BEHIND
#define BEHIND 0
#endif

static volatile int skipped, traps, masked, divided, reasons, entered;
static sigjmp_buf back;

APART void work(void) { entered++; }

APART void skips(int signal, siginfo_t *info, void *context) {
  ucontext_t *u = context;
  skipped++;
  work();
  if (info->si_code > 0 && info->si_addr != (void *)(PC(u) - BEHIND)) printf("si_addr\n");
  PC(u) += LENGTH;
}

APART void stepsOver(int signal, siginfo_t *info, void *context) {
  traps++;
  work();
#if !defined __x86_64__ && !defined __i386__ && !defined __m68k__
  PC((ucontext_t *)context) += LENGTH;
#endif
}

APART void blocks(int signal, siginfo_t *info, void *context) {
  work();
  sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGUSR2);
}

APART void elsewhere(void) {
  printf("elsewhere\n");
  siglongjmp(back, 1);
}

APART void redirects(int signal, siginfo_t *info, void *context) {
  work();
  PC((ucontext_t *)context) = (unsigned long)elsewhere & ~THUMB;
#ifdef __arm__
  unsigned long *flags = &((ucontext_t *)context)->uc_mcontext.arm_cpsr;  // Thumb, or not
  *flags = (*flags & ~32ul) | ((unsigned long)elsewhere & 1) << 5;
#endif
#ifdef __mips__
  ((ucontext_t *)context)->uc_mcontext.gregs[25] = (unsigned long)elsewhere;
#endif
#ifdef __powerpc64__
  ((ucontext_t *)context)->uc_mcontext.gp_regs[12] = (unsigned long)elsewhere;
#if _CALL_ELF != 2
  PC((ucontext_t *)context) = *(unsigned long *)elsewhere; // a descriptor
#endif
#endif
}

APART void jumps(int signal, siginfo_t *info, void *context) {
  divided++;
  if (info->si_code <= 0) printf("si_code\n");
  if (signal == SIGFPE) reasons = reasons * 10 + info->si_code;
  siglongjmp(back, 1);
}

APART void again(int signal, siginfo_t *info, void *context) {
  work();
  if (++skipped == 10) {
    char text[] = "enough\n";
    write(1, text, sizeof text - 1);
    _exit(9);
  }
}

APART void install(int signal, void (*handler)(int, siginfo_t *, void *), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(signal, &action, 0);
}

APART void illegal(void) {
  for (int i = 0; i < 5; i++) {
    FAIL(ILLEGAL);
    work();
  }
}

APART void trap(void) {
  for (int i = 0; i < 5; i++) {
    FAIL(TRAP);
    work();
  }
}

APART int divide(volatile int *by) {
#ifdef DIVIDES
  return 10 / *by;
#else
  if (*by == 0) raise(SIGFPE);
  return 10;
#endif
}

int main(int argc, char **argv) {
  setvbuf(stdout, 0, _IONBF, 0);
  install(SIGILL, skips, 0);
  illegal();
  printf("illegal %d\n", skipped);
  install(SIGTRAP, stepsOver, 0);
  trap();
  printf("trap %d\n", traps);
  install(SIGUSR1, blocks, 0);
  raise(SIGUSR1);
  sigset_t set;
  sigprocmask(SIG_BLOCK, 0, &set);
  printf("mask %d %d\n", sigismember(&set, SIGUSR2), sigismember(&set, SIGUSR1));
  install(SIGUSR1, redirects, 0);
  if (sigsetjmp(back, 1) == 0) raise(SIGUSR1);
  printf("back\n");
  install(SIGSEGV, jumps, 0);
  int (*volatile nowhere)(void) = (int (*)(void))16;
  for (int i = 0; i < 3; i++)
    if (sigsetjmp(back, 1) == 0) nowhere();
  install(SIGFPE, jumps, 0);
#ifdef DIVIDES
  volatile int zero = 0;
  for (int i = 0; i < 3; i++)
    if (sigsetjmp(back, 1) == 0) divide(&zero);
#else
  divided += 3;
#endif
#ifdef __mips__
  if (sigsetjmp(back, 1) == 0)  // in a delay slot
    asm volatile(".set noreorder\n b 1f\n teq $0, $0, 6\n1:\n .set reorder");
  if (sigsetjmp(back, 1) == 0) asm volatile("break 7");
  if (sigsetjmp(back, 1) == 0) asm volatile("break 6");
#endif
  printf("divided %d %d\n", divided, reasons);
  printf("entered %d\n", entered);
  skipped = 0;
  install(SIGSEGV, again, 0);
  *(volatile int *)32 = 1;
  return 5;
}
