/*
 * Stacks in odd places, by chance: in locals of open frames and in frames of other coroutines, in arrays, on the heap, in
 * mappings, and copied out of and into one place. Coroutines switch to each other in any order, end, are abandoned, and
 * jump out to main. Each function checks that it is what it was. Arguments: a seed, how many steps, and how many
 * coroutines share a place (0 unless given). Prints a checksum.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { MANY = 20, MAIN = MANY, STACK = 32768, SCOPES = 4096, PLACES = 4, SHARED_STACK = 8192 };
enum { FREE, WAITING, RUNNING };

struct coroutine {
  ucontext_t context;
  int state;
  int scope; /* in which its stack lies; 0: none */
  char *shared; /* what its stack holds while another has the place */
  char *own; /* of the heap */
  char *low; /* of its stack; 0: not known */
};

static struct coroutine all[MANY + 1];
static struct { char alive, of; } scopes[SCOPES];
static int last_scope, now = MAIN, resident = -1;
static char array[PLACES][STACK], taken[PLACES];
static char *place; /* of those that share one */
static long steps, sum;
static int sharing; /* how many share one place */
static unsigned state;
static jmp_buf base, inner;

#define CALLED __attribute__((noinline))

static unsigned draw(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

CALLED int work(int depth);

CALLED int leaf(int n) {
  __asm__ volatile("" ::: "memory");
  return n * 3 + 1;
}

CALLED int tail_leaf(int n) {
  __asm__ volatile("" ::: "memory");
  return leaf(n + 1);
}

static void wrong(int what) {
  printf("wrong %d, step %ld\n", what, steps);
  exit(1);
}

static void end_of(int who);

/* A frame is gone, and with it all whose stacks lay in it. */
static void end_scope(int scope) {
  scopes[scope].alive = 0;
  for (int i = 0; i < MANY; i++) {
    if (all[i].state == WAITING && all[i].scope == scope) {
      end_of(i);
    }
  }
}

static void end_scopes_of(int who) {
  for (int i = 1; i <= last_scope; i++) {
    if (scopes[i].alive && scopes[i].of == who) {
      end_scope(i);
    }
  }
}

static void end_of(int who) {
  all[who].state = FREE;
  if (all[who].scope < 0) {
    taken[-1 - all[who].scope] = 0;
  }
  if (resident == who) {
    resident = -1;
  }
  end_scopes_of(who);
}

/* Those that share a place are brought there; nobody does that who runs there. */
static int may_run(int who) {
  if (!all[who].shared) {
    return 1;
  }
  if (all[now].shared) {
    return 0;
  }
  if (resident != who) {
    if (resident >= 0) {
      memcpy(all[resident].shared, place, SHARED_STACK);
    }
    memcpy(place, all[who].shared, SHARED_STACK);
    resident = who;
  }
  return 1;
}

CALLED int switch_to(int who) {
  int me = now;
  if (who == me || all[who].state != WAITING || !may_run(who)) {
    return 0;
  }
  all[me].state = WAITING;
  all[who].state = RUNNING;
  now = who;
  swapcontext(&all[me].context, &all[who].context);
  if (now != me) {
    wrong(1);
  }
  return 1;
}


/* The switch is the last thing that it does. */
CALLED void tail_switch(void) {
  int me = now;
  all[me].state = WAITING;
  all[MAIN].state = RUNNING;
  now = MAIN;
  swapcontext(&all[me].context, &all[MAIN].context);
}

CALLED void body(void) {
  int me = now;
  while (steps > 0) {
    sum += work(2 + (int)draw(4));
    if (now != me) {
      wrong(2);
    }
    if (draw(8) == 0) {
      break;
    }
  }
  end_of(me);
  all[MAIN].state = RUNNING;
  now = MAIN; /* uc_link goes on there */
}

/* True where who runs has its stack in a frame of another, or in that of one whose stack lies there. */
static int runs_in(int who) {
  for (int i = now; i != MAIN && all[i].scope > 0;) {
    i = scopes[all[i].scope].of;
    if (i == who) {
      return 1;
    }
  }
  return 0;
}

static int any_free(void) {
  for (int i = 0; i < MANY; i++) {
    if (all[i].state == FREE) {
      return i;
    }
  }
  return -1;
}

CALLED void make(int who, char *stack, int size, int scope) {
  getcontext(&all[who].context);
  all[who].context.uc_stack.ss_sp = stack;
  all[who].context.uc_stack.ss_size = (size_t)size;
  all[who].context.uc_link = &all[MAIN].context;
  all[who].scope = scope;
  all[who].low = stack;
  all[who].state = WAITING;
  makecontext(&all[who].context, body, 0);
}

CALLED void make_elsewhere(void) {
  int who = any_free();
  if (who < 0 || all[who].shared) {
    return;
  }
  switch (draw(3)) {
    case 0: {
      int at = (int)draw(PLACES);
      if (!taken[at]) {
        taken[at] = 1;
        make(who, array[at], STACK, -1 - at);
      }
      return;
    }
    case 1:
      all[who].own = all[who].own ? all[who].own : malloc(STACK);
      make(who, all[who].own, STACK, 0);
      return;
    default:
      make(who, mmap(0, STACK, 3, 0x22, -1, 0), STACK, 0);
  }
}

CALLED void make_shared(void) {
  for (int i = 0; i < sharing; i++) {
    if (all[i].state == FREE && !all[now].shared) {
      if (resident >= 0) {
        memcpy(all[resident].shared, place, SHARED_STACK);
      }
      resident = i;
      make(i, place, SHARED_STACK, 0);
      return;
    }
  }
}

/* A frame with stacks in it. */
CALLED int host_them(int depth, int size) {
  char stacks[size * 2];
  int mine = ++last_scope, result = depth;
  scopes[mine].alive = 1;
  scopes[mine].of = (char)now;
  for (int i = 0; i < 2; i++) {
    int who = any_free();
    if (who >= 0 && !all[who].shared) {
      make(who, stacks + i * size, size, mine);
      result += switch_to(who);
    }
  }
  for (int i = (int)draw(5); i >= 0; i--) {
    result += work(depth - 1);
    switch_to((int)draw(MANY));
  }
  end_scope(mine);
  return result;
}

/* The same where there is room. */
CALLED int host(int depth, int size) {
  char *low = all[now].low, here;
  if (all[now].shared || last_scope == SCOPES - 1 || (low && &here - low < 2 * size + 4096)) {
    return leaf(depth);
  }
  return host_them(depth, size);
}

CALLED int jump(int n) {
  if (n == 0) {
    longjmp(inner, 1);
  }
  return jump(n - 1) + leaf(n);
}

/* Leaves a coroutine, and whatever main was in. */
CALLED void jump_to_main(void) {
  int me = now;
  if (me != MAIN) {
    end_of(me);
    end_scopes_of(MAIN);
    all[MAIN].state = RUNNING;
    now = MAIN;
    longjmp(base, 1);
  }
}

CALLED int work(int depth) {
  int me = now, result = 0;
  volatile unsigned canary = state ^ (unsigned)depth;
  unsigned kept = canary;
  steps--;
  if (depth <= 0 || steps < 0) {
    return leaf(me);
  }
  switch (draw(16)) {
    case 0: case 1: case 2:
      result = work(depth - 1) + leaf(depth);
      break;
    case 3:
      return tail_leaf(depth);
    case 4: case 5: case 6: case 7:
      result = switch_to((int)draw(MANY + 1));
      break;
    case 8:
      make_elsewhere();
      break;
    case 9:
      make_shared();
      break;
    case 10: case 11:
      result = host(depth, draw(2) ? 5120 : 8192);
      break;
    case 12:
      if (setjmp(inner) == 0) {
        jump(1 + (int)draw(3));
      }
      break;
    case 13:
      if (me != MAIN && !draw(2)) {
        tail_switch();
      }
      break;
    case 14: {
      int who = (int)draw(MANY);
      if (all[who].state == WAITING && !runs_in(who)) {
        end_of(who);
      }
      break;
    }
    default:
      if (!draw(6)) {
        jump_to_main();
      }
  }
  if (canary != kept || now != me) {
    wrong(3);
  }
  return result + work(depth - 1);
}

int main(int count, char **arguments) {
  state = count > 1 ? (unsigned)atoi(arguments[1]) : 1;
  steps = count > 2 ? atoi(arguments[2]) : 2000;
  sharing = count > 3 ? atoi(arguments[3]) : 0;
  place = malloc(SHARED_STACK);
  for (int i = 0; i < sharing; i++) {
    all[i].shared = malloc(SHARED_STACK);
  }
  all[MAIN].state = RUNNING;
  volatile int jumps = 0;
  if (setjmp(base)) {
    jumps++;
  }
  while (steps > 0) {
    sum += work(6);
    if (last_scope > SCOPES / 2) {
      int alive = 0;
      for (int i = 1; i <= last_scope; i++) {
        alive += scopes[i].alive;
      }
      last_scope = alive ? last_scope : 0;
    }
  }
  printf("%ld %d\n", sum, jumps);
  return 0;
}
