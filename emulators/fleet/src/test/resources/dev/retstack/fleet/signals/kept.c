// What a handler uses itself is as it was when it returns: vectors, floating point, carry, condition.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
typedef int four __attribute__((vector_size(16)));
static volatile int ticks;
static volatile four other;
static volatile double half = 0.5;
#define LIMBS 16

// a carry that lives from one block to the next
static void add(unsigned long *to, const unsigned long *from) {
#if defined __x86_64__
  long n = LIMBS;
  unsigned long t;
  asm volatile("clc\n1: mov (%1), %3\n adc %3, (%0)\n lea 8(%0), %0\n lea 8(%1), %1\n dec %2\n jnz 1b"
               : "+r"(to), "+r"(from), "+r"(n), "=&r"(t)::"memory", "cc");
#elif defined __powerpc64__
  unsigned long a, b;
  to--, from--;
  asm volatile("mtctr %4\n addic %2, %4, 0\n1: ldu %2, 8(%1)\n ld %3, 8(%0)\n adde %3, %2, %3\n stdu %3, 8(%0)\n bdnz 1b"
               : "+b"(to), "+b"(from), "=&b"(a), "=&b"(b) : "b"((long)LIMBS) : "memory", "ctr", "xer");
#elif defined __s390x__
  long n = LIMBS;
  unsigned long t;
  asm volatile("slgr %3, %3\n algr %3, %3\n1: lg %3, 0(%0)\n alcg %3, 0(%1)\n stg %3, 0(%0)\n"
               " la %0, 8(%0)\n la %1, 8(%1)\n brctg %2, 1b"
               : "+a"(to), "+a"(from), "+r"(n), "=&r"(t)::"memory", "cc");
#else
  unsigned long carry = 0;
  for (int i = 0; i < LIMBS; i++) {
    unsigned long sum = to[i] + from[i], all = sum + carry;
    carry = (sum < from[i]) | (all < carry);
    to[i] = all;
  }
#endif
}

// Returns by a copy of the frame, which the tracer does not know: what it keeps beside a frame is lost.
static void returnByCopy(void *context) {
#if defined COPIED && defined __powerpc64__
  static char copy[1760] __attribute__((aligned(16)));
  memcpy(copy, (char *)context - 128, sizeof copy);
  asm volatile("mr 1, %0\n li 0, 172\n sc" ::"r"(copy + 128) : "memory");
#elif defined COPIED
#error "how this ISA returns by a copy"
#endif
}

APART void onTick(int signal, siginfo_t *info, void *context) {
  four v = other;
  for (int i = 0; i < 3; i++) v = v * 5 + i;
  other = v;
  half = half * 1.5 + 0.25;
  if (half > 100) half /= 90;
  unsigned long a[LIMBS], b[LIMBS];
  memset(a, ticks % 2 ? 0xff : 1, sizeof a);
  memset(b, ticks % 2 ? 0xff : 1, sizeof b);
  add(a, b);
  ticks++;
  returnByCopy(context);
}

APART void vectors(void) {
  four v = {1, 2, 3, 4}, w = {5, 6, 7, 8};
  int s[4] = {1, 2, 3, 4};
  for (int i = 0; i < 5000; i++) {
    v = v * 3 + w + i;
    asm volatile("" ::: "memory");
  }
  for (int i = 0; i < 5000; i++)
    for (int k = 0; k < 4; k++) s[k] = (int)((unsigned)s[k] * 3 + 5 + k + i);
  printf("vectors %d\n", v[0] == s[0] && v[1] == s[1] && v[2] == s[2] && v[3] == s[3]);
}

APART void doubles(void) {
  double a = 1, b = 2, c = 3, d = 4;
  for (int i = 0; i < 5000; i++) {
    a = a * 0.5 + b, b = b * 0.25 + c, c = c * 0.125 + d, d = d * 0.5 + i;
    asm volatile("" ::: "memory");
  }
  printf("doubles %.6f %.6f %.6f %.6f\n", a, b, c, d);
}

APART void carries(void) {
  unsigned long a[LIMBS] = {0}, b[LIMBS], sum = 0;
  for (int i = 0; i < LIMBS; i++) b[i] = 0x9e3779b9ul * (i + 1) << 7 | ~(~0ul >> 1) | i;
  for (int i = 0; i < 3000; i++) add(a, b);
  for (int i = 0; i < LIMBS; i++) sum = sum * 31 + a[i];
  printf("carries %lx\n", sum);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = onTick;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGVTALRM, &action, 0);
  struct itimerval often = {{0, 1}, {0, 1}}, off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_VIRTUAL, &often, 0);
  vectors();
  doubles();
  carries();
  setitimer(ITIMER_VIRTUAL, &off, 0);
  return 6;
}
