// A handler overwrites its own frame, or the stack pointer is nonsense when a signal comes.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static unsigned long long state;
static int most, caught;
static char alternate[16384];

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % below;
}

__attribute__((noinline)) void overwrites(int signal, siginfo_t *info, void *context) {
  unsigned char *bytes = context;
  unsigned size = draw(4) ? sizeof(ucontext_t) : 600;
  unsigned count = 1 + draw(draw(3) ? 4 : size);
  if (draw(8) == 0) {
    unsigned long *words = context;
    static const unsigned long odd[] = {0, -1ul, 1, 2, 0x7fffffff, 0x80000000, 0xfff, -4096ul};
    for (unsigned i = 0; i < 4; i++) words[draw(size / sizeof *words)] = odd[draw(8)];
  }
  while (count--) bytes[draw(size)] = (unsigned char)draw(256);
}

__attribute__((noinline)) void faults(int signal) {
  if (++caught > most) _exit(7);
}

int main(int argc, char **argv) {
  struct sigaction action;
  state = strtoul(argv[1], 0, 10);
  draw(2);
  most = (int)draw(20);
  memset(&action, 0, sizeof action);
  if (draw(2)) {
    stack_t stack = {.ss_sp = alternate + draw(64), .ss_size = draw(2) ? 2048 + draw(2000) : 15000};
    sigaltstack(&stack, 0);
    action.sa_flags = SA_ONSTACK;
  }
  action.sa_handler = faults;
  action.sa_flags |= draw(2) ? SA_NODEFER : 0;
  if (draw(2))
    for (int s = 4; s <= 11; s++) sigaction(s, &action, 0);
  action.sa_sigaction = overwrites;
  action.sa_flags = SA_SIGINFO | (draw(2) ? SA_ONSTACK : 0) | (draw(3) ? 0 : SA_NODEFER);
  sigaction(SIGUSR1, &action, 0);
  sigaction(SIGVTALRM, &action, 0);
  if (draw(3) == 0) {
    struct itimerval often = {{0, 1 + draw(20)}, {0, 1 + draw(20)}};
    setitimer(ITIMER_VIRTUAL, &often, 0);
  }
  if (draw(4) == 0) {
    unsigned long sp = draw(2) ? (unsigned long)draw(-1u) << draw(20) : (unsigned long)&action - draw(1 << 24);
#if defined __x86_64__
    asm volatile("mov %0, %%rsp\n mov $39, %%eax\n syscall\n mov %%eax, %%edi\n mov $10, %%esi\n mov $62, %%eax\n syscall" ::"r"(sp) : "memory");
#elif defined __i386__
    asm volatile("mov %0, %%esp\n mov $20, %%eax\n int $0x80\n mov %%eax, %%ebx\n mov $10, %%ecx\n mov $37, %%eax\n int $0x80" ::"r"(sp) : "memory");
#elif defined __aarch64__
    asm volatile("mov sp, %0\n mov x8, #172\n svc #0\n mov x1, #10\n mov x8, #129\n svc #0" ::"r"(sp) : "memory");
#elif defined __riscv
    asm volatile("mv sp, %0\n li a7, 172\n ecall\n li a1, 10\n li a7, 129\n ecall" ::"r"(sp) : "memory");
#elif defined __arm__
    asm volatile("mov sp, %0\n mov r7, #20\n svc #0\n mov r1, #10\n mov r7, #37\n svc #0" ::"r"(sp) : "memory");
#elif defined __s390x__
    asm volatile("lgr %%r15, %0\n svc 20\n lghi %%r3, 10\n svc 37" ::"r"(sp) : "memory");
#elif defined __m68k__
    asm volatile("move.l %0, %%sp\n moveq #20, %%d0\n trap #0\n move.l %%d0, %%d1\n moveq #10, %%d2\n moveq #37, %%d0\n trap #0" ::"r"(sp) : "memory");
#elif defined __mips__
    asm volatile("move $sp, %0\n li $2, 4020\n syscall\n move $4, $2\n li $5, 16\n li $2, 4037\n syscall" ::"r"(sp) : "$2", "$4", "$5", "$7", "memory");
#elif defined __powerpc__
    asm volatile("mr 1, %0\n li 0, 20\n sc\n li 4, 10\n li 0, 37\n sc" ::"r"(sp) : "memory");
#else
#error "a stack pointer of nonsense for this ISA"
#endif
  }
  for (int i = 0; i < 20; i++) raise(SIGUSR1);
  return 0;
}
