/* Functions that read return addresses: prints by whom they were called. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#define APART __attribute__((noinline, noclone))
#define BEHIND(x) __asm__ volatile("" : "+r"(x) : : "memory")
struct frame {
  struct frame *next;
#if defined __powerpc64__
  long cr;
#elif defined __s390x__
  long registers[13];
#endif
  char *back;
};
int main(void);
APART int work(int n) { BEHIND(n); return n + 1; }
APART char *own(void) { return __builtin_return_address(0); }
APART char *late(int n) { n = work(n); n += work(n); return n ? __builtin_return_address(0) : 0; }
APART char *asked(void) { char *p = own(); BEHIND(p); return p; }
APART char *asked_late(void) { char *p = late(1); BEHIND(p); return p; }
APART char *jumps(void) { return own(); }
APART char *jumped(void) { char *p = jumps(); BEHIND(p); return p; }
/* gives way to a traced function */
static char *seen, *other;
APART int gives_way(int n) { seen = __builtin_return_address(0); return work(n); }
APART int way_given(void) { int n = gives_way(5); BEHIND(n); return n; }
APART int deep(int n) {
  char *p = __builtin_return_address(0);
  int ok = n == 0 ? 0 : deep(n - 1);
  BEHIND(ok);
  return ok + (p != 0);
}
static jmp_buf env;
APART void leaves(int n) { seen = __builtin_return_address(0); if (work(n)) longjmp(env, n); }
APART int left(int n) { int found = setjmp(env); if (!found) leaves(n); found = work(found); BEHIND(found); return found; }
#if !defined __powerpc__ || defined __powerpc64__ /* it has a system call for these */
#define CONTEXTS
static ucontext_t here, there;
static char stack[65536];
APART void yields(void) { char *p = __builtin_return_address(0); swapcontext(&there, &here); other = p; BEHIND(p); }
static void task(void) { yields(); work(1); yields(); work(2); }
APART char *resumes(void) { char *p = __builtin_return_address(0); swapcontext(&here, &there); BEHIND(p); return p; }
APART char *resumer(void) { char *p = resumes(); BEHIND(p); return p; }
#endif
static void handler(int s) { other = own(); (void)s; }
APART char *raised(void) { char *p = __builtin_return_address(0); raise(SIGUSR1); BEHIND(p); return p; }
APART char *raiser(void) { char *p = raised(); BEHIND(p); return p; }
#ifdef WALKS
#ifdef UNTRACED
#define WALKS_BY APART __attribute__((no_instrument_function))
#else
#define WALKS_BY APART
#endif
WALKS_BY char *parent(void) { return __builtin_return_address(1); }
APART char *between(void) { char *p = parent(); BEHIND(p); return p; }
APART char *asked_parent(void) { char *p = between(); BEHIND(p); return p; }
WALKS_BY int walk(char **at, int most) {
  struct frame *f = __builtin_frame_address(0);
#if defined __powerpc__ || defined __s390x__
  f = f->next->next; /* where callers have saved theirs: this function may not */
#endif
  int n = 0;
  while (n < most) { at[n++] = f->back; if (f->next <= f) break; f = f->next; }
  return n;
}
APART int walk_from(int n, char **at) { int found = n ? walk_from(n - 1, at) : walk(at, 8); BEHIND(found); return found; }
#endif
#if defined __powerpc64__ && _CALL_ELF != 2
#define AT(f) *(char **)f
#else
#define AT(f) (char *)((unsigned long)f & -2ul)
#endif
#define NAMES F(main) F(asked) F(asked_late) F(jumped) F(way_given) F(deep) F(left) F(handler) F(raiser) F(leaves)
static const char *name(char *p) {
  const char *found = "?";
  unsigned long most = 2048;
#define F(f) if ((unsigned long)(p - AT(f)) < most) { most = p - AT(f); found = #f; }
  NAMES
#ifdef CONTEXTS
  F(task) F(resumer)
#endif
#ifdef WALKS
  F(between) F(asked_parent) F(walk_from)
#endif
  return found;
}
static void tell(const char *what, char *p) { printf("%s %s\n", what, name(p)); }
int main(void) {
  tell("own", asked());
  tell("late", asked_late());
  tell("jumped", jumped());
  int n = way_given();
  tell("way", n == 6 ? seen : 0);
  printf("deep %d\n", deep(40));
  n = left(3);
  tell("left", n == 4 ? seen : 0);
#ifdef CONTEXTS
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = &here;
  makecontext(&there, task, 0);
  for (int i = 0; i < 3; i++) {
    tell("resumed", resumer());
    tell("yielded", other);
  }
#endif
  signal(SIGUSR1, handler);
  tell("raised", raiser());
  tell("handled", other);
#ifdef WALKS
  tell("parent", asked_parent());
  char *at[8];
  n = walk_from(3, at);
  for (int i = 0; i < 5 && i < n; i++)
    tell("walk", at[i]);
#endif
  return 0;
}
