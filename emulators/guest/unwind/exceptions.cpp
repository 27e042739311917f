/*
 * C++ exceptions and backtraces: an unwinder reads return addresses, which a tracer has hijacked. Every way out of a
 * frame that C++ has; the program checks itself (exit code) and tells its calls (log.h).
 *
 *   exceptions [SCENARIO]   all scenarios that go on; or one: `escapes`, `forbidden` end in terminate()
 */
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <csetjmp>
#include <exception>
#include <execinfo.h>
#include <unwind.h>
#include <alloca.h>

#include "log.h"

static volatile int sink;
static volatile bool always = true;
static int failures;

UNTRACED static void check(bool right, const char *what) {
  if (!right) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

TRACED int leaf(int n) {
  IN();
  sink = n;
  OUT();
  return n + 1;
}

TRACED void raise_number(int n) {
  IN();
  leaf(n);
  if (always) { /* else the compiler knows that it does not return */
    throw n;
  }
  OUT();
}

/* A destructor that calls instrumented functions: a landing pad, and _Unwind_Resume behind it. */
struct Guard {
  const char *owner;
  int n;
  __attribute__((NOT_COUNTED)) Guard(const char *function, int number) : owner(function), n(number) {}
  __attribute__((noipa)) ~Guard() {
    say('^', owner);
    say('+', "~Guard");
    leaf(n);
    say('-', "~Guard");
  }
};

/* Three frames, one of them with something to clean up. */
TRACED int middle(int n) {
  IN();
  Guard guard(__func__, n);
  raise_number(n);
  OUT();
  return sink;
}

struct Memory {
  void *block;
  __attribute__((NOT_COUNTED)) Memory() : block(malloc(40)) {}
  __attribute__((NOT_COUNTED)) ~Memory() { free(block); }
};

UNTRACED static int untraced_between(int n) {
  Memory memory;
  return middle(n) + (memory.block == nullptr);
}

TRACED int outer(int n) {
  IN();
  Guard first(__func__, n + 1);
  Guard second(__func__, n + 2);
  int result = untraced_between(n);
  OUT();
  return result;
}

TRACED int simple(int n) {
  IN();
  int got = -1;
  try {
    raise_number(n);
  } catch (int thrown) {
    LANDED();
    got = leaf(thrown);
  }
  OUT();
  return got;
}

TRACED int cleanups(int n) {
  IN();
  int got = 0;
  try {
    outer(n);
  } catch (int thrown) {
    LANDED();
    got = thrown;
  }
  OUT(); /* nothing is called between the catch and the return */
  return got;
}

TRACED int rethrows(int n) {
  IN();
  Guard guard(__func__, n);
  try {
    outer(n);
  } catch (int thrown) {
    LANDED();
    leaf(thrown);
    throw;
  }
  OUT();
  return 0;
}

TRACED int rethrown(int n) {
  IN();
  int got = 0;
  try {
    rethrows(n);
  } catch (...) {
    LANDED();
    try {
      throw;
    } catch (int thrown) {
      LANDED();
      got = thrown;
    }
  }
  OUT();
  return got;
}

/* Throws and catches while another exception unwinds the stack. */
struct Nesting {
  __attribute__((NOT_COUNTED)) Nesting() {}
  __attribute__((noipa)) ~Nesting() {
    say('^', "nests");
    say('+', "~Nesting");
    try {
      outer(70);
    } catch (int) {
      say('^', "~Nesting");
      simple(71);
    }
    say('-', "~Nesting");
  }
};

TRACED void nests(int n) {
  IN();
  Nesting nesting;
  raise_number(n);
  OUT();
}

TRACED int nested(int n) {
  IN();
  int got = 0;
  try {
    nests(n);
  } catch (int thrown) {
    LANDED();
    try {
      outer(n + 1);
    } catch (int inner) {
      LANDED();
      got = thrown * 1000 + inner;
    }
  }
  OUT();
  return got;
}

#ifndef UNOPTIMIZED /* else functions of the library's headers are instrumented too */
static std::exception_ptr *kept;

TRACED void keeps(int n) {
  IN();
  try {
    outer(n);
  } catch (...) {
    LANDED();
    kept = new std::exception_ptr(std::current_exception());
  }
  OUT();
}

TRACED int thrown_later(int n) {
  IN();
  int got = 0;
  keeps(n);
  try {
    std::rethrow_exception(*kept);
  } catch (int thrown) {
    LANDED();
    got = thrown;
  }
  delete kept;
  OUT();
  return got;
}
#endif

/* Frames of all sizes, caught in their midst: more frames than there are handlers. */
TRACED int descends(int depth, int catch_at, int throw_at);

TRACED int catches(int depth, int throw_at) {
  IN();
  int result;
  try {
    result = descends(depth + 1, 0, throw_at);
  } catch (int thrown) {
    LANDED();
    result = thrown;
  }
  OUT();
  return result;
}

TRACED int descends(int depth, int catch_at, int throw_at) {
  IN();
  volatile char room[16 + 24 * (depth % 7)];
  room[0] = static_cast<char>(depth);
  int result;
  if (depth == throw_at) {
    raise_number(depth);
  }
  if (depth > 2 * throw_at) {
    result = leaf(depth);
  } else {
    result = depth == catch_at ? catches(depth, throw_at) : descends(depth + 1, catch_at, throw_at);
  }
  check(room[0] == static_cast<char>(depth), "a local of descends");
  OUT();
  return result + 1;
}

TRACED double many_arguments(int count, ...) {
  IN();
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; i++) {
    sum += va_arg(list, double);
  }
  va_end(list);
  char *room = static_cast<char *>(alloca(static_cast<size_t>(count) * 100));
  memset(room, 1, static_cast<size_t>(count) * 100);
  sink = room[count];
  if (sum > 5) {
    raise_number(static_cast<int>(sum));
  }
  OUT();
  return sum;
}

TRACED double returns_double(double x) {
  IN();
  double got = x;
  try {
    got += many_arguments(3, x, x + 1, x + 2);
  } catch (int thrown) {
    LANDED();
    got += thrown / 2.0;
  }
  OUT();
  return got;
}

#ifndef UNOPTIMIZED
TRACED int gives_way(int n) {
  IN();
  GIVE_WAY();
  return middle(n);
}

TRACED int gives_way_too(int n) {
  IN();
  GIVE_WAY();
  return gives_way(n + 1);
}

TRACED int past_tail_calls(int n) {
  IN();
  int got = 0;
  try {
    got = gives_way_too(n);
  } catch (int thrown) {
    LANDED();
    got = thrown;
  }
  OUT();
  return got;
}
#endif

TRACED int loops(int rounds) {
  IN();
  int sum = 0;
  for (int i = 0; i < rounds; i++) {
    try {
      sum += i % 3 == 0 ? leaf(i) : outer(i);
    } catch (int thrown) {
      LANDED();
      sum += thrown;
    }
  }
  OUT();
  return sum;
}

/* Addresses, which must be those of an untraced run. */
UNTRACED static void print_addresses(void *const *addresses, int count) {
  for (int i = 0; i < count; i++) {
    printf("at %p\n", addresses[i]);
  }
}

TRACED int shows_callers(int n) {
  IN();
  void *addresses[64];
  int count = backtrace(addresses, 64);
  print_addresses(addresses, count);
  OUT();
  return count + n;
}

TRACED int shows_deeply(int n) {
  IN();
  int got = n == 0 ? shows_callers(n) : shows_deeply(n - 1) + 1;
  OUT();
  return got;
}

static int seen;

TRACED _Unwind_Reason_Code each(struct _Unwind_Context *context, void *budget) {
  IN();
  seen++;
  printf("at %p\n", reinterpret_cast<void *>(_Unwind_GetIP(context)));
  int *left = static_cast<int *>(budget);
  _Unwind_Reason_Code code = --*left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
  OUT();
  return code;
}

/* Unwinders below an unwinder: neither may take the true addresses from the other. */
TRACED _Unwind_Reason_Code each_with_more(struct _Unwind_Context *context, void *budget) {
  IN();
  int three = 3;
  simple(9);
  _Unwind_Backtrace(each, &three);
  shows_callers(1);
  printf("at %p\n", reinterpret_cast<void *>(_Unwind_GetIP(context)));
  int *left = static_cast<int *>(budget);
  _Unwind_Reason_Code code = --*left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
  OUT();
  return code;
}

TRACED int walks(int n) {
  IN();
  int budget = n;
  _Unwind_Backtrace(each, &budget);
  budget = n;
  _Unwind_Backtrace(each_with_more, &budget);
  OUT();
  return n;
}

/* The unwinder in the place of its caller. */
UNTRACED static _Unwind_Reason_Code untraced_each(struct _Unwind_Context *context, void *) {
  printf("at %p\n", reinterpret_cast<void *>(_Unwind_GetIP(context)));
  return _URC_NO_REASON;
}

TRACED _Unwind_Reason_Code gives_way_to_unwinder(void *argument) {
  IN();
  OUT();
  return _Unwind_Backtrace(untraced_each, argument);
}

TRACED int calls_it(int n) {
  IN();
  int got = gives_way_to_unwinder(nullptr) + n;
  OUT();
  return got;
}

/* A forced unwinding, as pthread_exit has it: all clean-ups run, then a jump. */
static jmp_buf end_of_unwinding;
static void *stop_at;

TRACED _Unwind_Reason_Code stop(int, _Unwind_Action actions, _Unwind_Exception_Class, struct _Unwind_Exception *,
                                struct _Unwind_Context *context, void *) {
  IN();
  bool end = (actions & _UA_END_OF_STACK) || reinterpret_cast<void *>(_Unwind_GetCFA(context)) > stop_at;
  if (end) {
    longjmp(end_of_unwinding, 1);
  }
  OUT();
  return _URC_NO_REASON;
}

static struct _Unwind_Exception forced_exception;

TRACED void forces(int n) {
  IN();
  Guard guard(__func__, n);
  leaf(n);
  _Unwind_ForcedUnwind(&forced_exception, stop, nullptr);
  OUT();
}

TRACED void above_forced(int n) {
  IN();
  Guard guard(__func__, n);
  forces(n + 1);
  OUT();
}

TRACED int forced(int n) {
  IN();
  stop_at = __builtin_frame_address(0);
  if (setjmp(end_of_unwinding) == 0) {
    above_forced(n);
  } else {
    LANDED();
    leaf(n);
  }
  OUT();
  return n;
}

/* A longjmp out of a clean-up, and out of a catch. */
static jmp_buf out_of_it;

struct Jumping {
  __attribute__((NOT_COUNTED)) Jumping() {}
  __attribute__((noipa)) ~Jumping() {
    say('^', "jumps_out");
    say('+', "~Jumping");
    leaf(5);
    longjmp(out_of_it, 1);
  }
};

TRACED void jumps_out(int n) {
  IN();
  if (n == 0) {
    Jumping jumping;
    raise_number(n);
  }
  try {
    outer(n);
  } catch (int) {
    LANDED();
    leaf(n);
    longjmp(out_of_it, 2);
  }
  OUT();
}

TRACED int jumped(int n) {
  IN();
  volatile int round = 0;
  volatile int sum = 0;
  int how = setjmp(out_of_it);
  if (how != 0) {
    LANDED();
    sum = sum * 10 + how;
  }
  if (round < 2) {
    round = round + 1;
    try {
      jumps_out(round - 1);
    } catch (int) {
      check(false, "a clean-up that jumps goes before the catch");
    }
  }
  OUT();
  return sum + n;
}

TRACED void on_terminate() {
  IN();
  printf("terminated\n");
  leaf(1);
  fflush(stdout);
  _Exit(7);
}

TRACED void escapes(int n) {
  IN();
  Guard guard(__func__, n);
  outer(n);
  OUT();
}

TRACED void forbidden(int n) noexcept {
  IN();
  outer(n);
  OUT();
}

TRACED int all() {
  IN();
  check(simple(4) == 5, "simple");
  check(cleanups(11) == 11, "cleanups");
  check(rethrown(12) == 12, "rethrown");
  check(nested(13) == 13014, "nested");
  check(descends(0, 20, 50) == 71, "descends");
  check(descends(0, 1, 200) == 202, "descends 200");
  check(descends(0, 1000, 1400) == 2401, "descends 1400");
  check(returns_double(1) == 1 + 3, "returns_double");
  check(returns_double(0.5) == 0.5 + 4.5, "returns_double 0.5");
#ifndef UNOPTIMIZED
  check(thrown_later(14) == 14, "thrown_later");
  check(past_tail_calls(15) == 16, "past_tail_calls");
#endif
  check(loops(30) == 445, "loops");
  check(shows_deeply(3) > 5, "shows_deeply");
  check(walks(4) == 4, "walks");
  check(calls_it(3) > 2, "calls_it");
  check(forced(8) == 8, "forced");
  check(jumped(100) == 112, "jumped");
  OUT();
  return failures;
}

int main(int argc, char **argv) {
  std::set_terminate(on_terminate);
  IN();
  int result = 0;
  if (argc < 2) {
    result = all();
  } else if (strcmp(argv[1], "escapes") == 0) {
    escapes(21);
  } else if (strcmp(argv[1], "forbidden") == 0) {
    forbidden(22);
  }
  OUT();
  return result;
}
