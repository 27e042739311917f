/*
 * A stack of pieces (-fsplit-stack) by chance: functions with frames of any size call each other, throw and catch, jump
 * back and take backtraces. A piece lies anywhere, so addresses say nothing of who called whom.
 *
 *   pieces SEED   prints its calls (log.h)
 */
#include <csetjmp>
#include <cstdlib>
#include <unwind.h>

#include "log.h"

extern "C" void __splitstack_getcontext(void *context[10]);
extern "C" void __splitstack_setcontext(void *context[10]);

enum { LEVELS = 40 };

struct target {
  std::jmp_buf back;
  void *pieces[10]; /* a jump must say on which piece of the stack it is then */
  target *before;
};

static target *targets;
static int catching, level, steps;
static unsigned long long seed;

UNTRACED static int chance(int below) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((seed >> 33) % (unsigned)below);
}

UNTRACED static _Unwind_Reason_Code count(_Unwind_Context *, void *data) {
  ++*static_cast<int *>(data);
  return _URC_NO_REASON;
}

UNTRACED static void backtraces() {
  int frames = 0;
  _Unwind_Backtrace(count, &frames);
  printf("%s\n", frames < level ? "too few frames" : "enough frames");
}

TRACED void leaf() {
  IN();
  OUT();
}

/* What an exception runs in a frame that it leaves. */
struct guard {
  const char *owner;
  int own = level;
  bool over = false;
  UNTRACED explicit guard(const char *name) : owner(name) {}
  UNTRACED ~guard() {
    if (!over) {
      say('^', owner);
      level = own;
      leaf();
      say('!', owner);
    }
  }
};

UNTRACED static void some();

#define FUNCTION(name, bytes)                                                                                              \
  TRACED void name() {                                                                                                     \
    IN();                                                                                                                  \
    level++;                                                                                                               \
    volatile char frame[bytes];                                                                                            \
    frame[0] = frame[bytes - 1] = 1;                                                                                       \
    guard guard(__func__);                                                                                                 \
    some();                                                                                                                \
    guard.over = frame[0];                                                                                                 \
    level--;                                                                                                               \
    OUT();                                                                                                                 \
  }
FUNCTION(tiny, 8)
FUNCTION(medium, 700)
FUNCTION(large, 5000)
FUNCTION(huge, 40000)

TRACED void plain() {
  IN();
  level++;
  some();
  level--;
  OUT();
}

TRACED void catches() {
  IN();
  int own = level++, before = catching;
  target *const back = targets;
  catching = 1;
  try {
    some();
  } catch (int) {
    LANDED();
    targets = back;
  }
  catching = before;
  level = own;
  OUT();
}

TRACED void lands() {
  IN();
  int own = level++, caught = catching;
  target here;
  here.before = targets;
  targets = &here;
  __splitstack_getcontext(here.pieces);
  if (setjmp(here.back) == 0) {
    some();
  } else {
    __splitstack_setcontext(here.pieces);
    LANDED();
  }
  targets = here.before;
  catching = caught;
  level = own;
  OUT();
}

UNTRACED static void step() {
  int what = level >= LEVELS ? 12 + chance(4) : chance(16);
  if (what < 2) {
    tiny();
  } else if (what < 4) {
    medium();
  } else if (what < 6) {
    large();
  } else if (what < 7) {
    huge();
  } else if (what < 8) {
    plain();
  } else if (what < 10) {
    catches();
  } else if (what < 12) {
    lands();
  } else if (what < 13) {
    backtraces();
  } else if (what < 14 && catching != 0) {
    printf("throws\n");
    throw 1;
  } else if (what < 15 && targets != nullptr) {
    printf("jumps\n");
    std::longjmp(targets->back, 1);
  } else {
    leaf();
  }
}

UNTRACED static void some() {
  while (steps > 0 && chance(6) > 0) {
    steps--;
    step();
  }
}

TRACED void whole() {
  IN();
  level++;
  for (steps = 300; steps > 0; steps--) {
    step();
  }
  level--;
  OUT();
}

UNTRACED int main(int argc, char **argv) {
  seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  whole();
}
