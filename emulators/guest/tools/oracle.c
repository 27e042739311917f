// The independent expectation: runs one zoo program natively on the host and prints its call tree or its counts.
// Calls are seen by -finstrument-functions, tail calls, longjmp and the planted corruption by the marks in the
// source (zoo.h). It shares no code with the tracer and knows nothing of counting functions or return addresses.
//
//   oracle PROGRAM tree|tree-O0|counts [ARGUMENT]
//
// tree-O0: as without optimisation, where a marked tail call is a call like any other.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zoo.h"

#define QUIET __attribute__((no_instrument_function))

enum { DEPTH_LIMIT = 1 << 16, PLACES = 8, CHAIN_MINIMUM = 8 };

struct call {
  const char *name, *tail_caller;
  struct call *parent, *first, *last, *next;
  int wrong_frame_pointer, unwound, gave_way;
};

// A program has one; of tasks each has its own (rtos-host.c).
struct context {
  const char *name;
  struct call root, **open_calls;
  int depth;
  struct context *next;
};

static struct call *open_calls_of_first[DEPTH_LIMIT];
static struct context first = {.open_calls = open_calls_of_first}, *now = &first;
static int tail_pending, no_tails;
static struct {
  const zoo_jmp_buf *place;
  int depth;
} places[PLACES];

QUIET static void fail(const char *what) {
  fprintf(stderr, "oracle: %s\n", what);
  exit(2);
}

QUIET static const char *name_of(void *function) {
  Dl_info info;
  if (dladdr(function, &info) == 0 || info.dli_sname == NULL) fail("a traced function has no global symbol");
  return info.dli_sname;
}

QUIET void __cyg_profile_func_enter(void *function, void *from) {
  (void)from;
  if (now->depth == 0) now->open_calls[0] = &now->root;
  struct call *caller = now->open_calls[now->depth], *call = calloc(1, sizeof *call);
  if (call == NULL || now->depth + 1 == DEPTH_LIMIT) fail("too many calls");
  call->name = name_of(function);
  call->parent = caller;
  if (tail_pending) {  // the caller's frame is gone: the callee is its sibling
    call->parent = caller->parent;
    call->tail_caller = caller->name;
    caller->gave_way = 1;
    tail_pending = 0;
  }
  if (call->parent->last == NULL) {
    call->parent->first = call;
  } else {
    call->parent->last->next = call;
  }
  call->parent->last = call;
  now->open_calls[++now->depth] = call;
}

QUIET void __cyg_profile_func_exit(void *function, void *from) {
  (void)from;
  if (now->depth == 0 || now->open_calls[now->depth]->name != name_of(function)) {
    fail("an exit does not match the open call");
  }
  now->depth--;
}

QUIET void oracle_tail(void) { tail_pending = !no_tails; }

QUIET void oracle_wrong_frame_pointer(void) { now->open_calls[now->depth]->wrong_frame_pointer = 1; }

QUIET void oracle_setjmp(const zoo_jmp_buf *place) {
  int i = 0;
  while (i < PLACES && places[i].place != NULL && places[i].place != place) i++;
  if (i == PLACES) fail("too many jump buffers");
  places[i].place = place;
  places[i].depth = now->depth;
}

QUIET void oracle_longjmp(const zoo_jmp_buf *place) {
  int i = 0;
  while (i < PLACES && places[i].place != place) i++;
  if (i == PLACES || places[i].depth > now->depth) fail("a longjmp to nowhere");
  for (; now->depth > places[i].depth; now->depth--) {
    struct call *left = now->open_calls[now->depth];
    left->unwound = !left->gave_way;  // no frame is left of one that gave way
  }
}

QUIET long zoo_write(int file, const void *bytes, unsigned long count) {
  return write(file == STDOUT_FILENO ? STDERR_FILENO : file, bytes, count);  // stdout is the tree's
}

QUIET long zoo_call_preserving_frame(long (*function)(long), long argument) { return function(argument); }

// From here on calls are of that context; the first one named is the one that the program began in.
QUIET void oracle_context(const char *name) {
  if (first.name == NULL) first.name = name;
  struct context *c = &first, *last = &first;
  while (c != NULL && strcmp(c->name, name) != 0) last = c, c = c->next;
  if (c == NULL) {
    c = calloc(1, sizeof *c);
    if (c == NULL || (c->open_calls = calloc(DEPTH_LIMIT, sizeof *c->open_calls)) == NULL) fail("too many tasks");
    c->name = name;
    last->next = c;
  }
  now = c;
}

QUIET static int same_line(const struct call *a, const struct call *b) {
  return a->name == b->name && a->tail_caller == b->tail_caller && a->unwound == b->unwound &&
         a->wrong_frame_pointer == b->wrong_frame_pointer;
}

QUIET static int same_tree(const struct call *a, const struct call *b) {
  while (same_line(a, b)) {
    const struct call *left = a->first, *right = b->first;
    if (left != NULL && right != NULL && left->next == NULL && right->next == NULL) {  // deep chains: no recursion
      a = left, b = right;
      continue;
    }
    for (; left != NULL && right != NULL; left = left->next, right = right->next) {
      if (!same_tree(left, right)) return 0;
    }
    return left == right;
  }
  return 0;
}

// One line per call, see README.md "Tree files".
QUIET static void print_trees(const struct call *call, int indent) {
  while (call != NULL) {
    const struct call *after = call->next, *innermost = call;
    int repeated = 1, chain = 1;
    while (after != NULL && same_tree(call, after)) after = after->next, repeated++;
    while (call->tail_caller == NULL && innermost->first != NULL && innermost->first->next == NULL &&
           same_line(call, innermost->first)) {
      innermost = innermost->first, chain++;
    }
    if (chain < CHAIN_MINIMUM) innermost = call, chain = 1;
    printf("%*s%s", 2 * indent, "", call->name);
    if (repeated > 1) printf(" x%d", repeated);
    if (chain > 1) printf(" ^%d", chain);
    if (call->tail_caller != NULL) printf(" <tail %s", call->tail_caller);
    if (call->unwound) printf(" !unwound");
    if (call->wrong_frame_pointer) printf(" !fp");
    printf("\n");
    print_trees(innermost->first, indent + 1);
    call = after;
  }
}

// The trees of each task, but not those of interrupts, which depend on the schedule.
QUIET static void print_contexts(void) {
  for (const struct context *c = &first; c != NULL; c = c->next) {
    if (c->root.first == NULL || strcmp(c->name, "interrupt") == 0) continue;
    printf("task %s\n", c->name);
    print_trees(c->root.first, 1);
  }
}

struct count {
  const char *name;
  long calls;
};

QUIET static int by_name(const void *a, const void *b) {
  return strcmp(((const struct count *)a)->name, ((const struct count *)b)->name);
}

QUIET static void add_counts(const struct call *call, struct count *counts, int *used, int limit) {
  for (; call != NULL; call = call->next) {
    int i = 0;
    while (i < *used && counts[i].name != call->name) i++;
    if (i == limit) fail("too many functions");
    if (i == *used) counts[(*used)++].name = call->name;
    counts[i].calls++;
    add_counts(call->first, counts, used, limit);
  }
}

QUIET static void print_counts(void) {
  static struct count counts[4096];
  int used = 0;
  add_counts(first.root.first, counts, &used, 4096);
  qsort(counts, (size_t)used, sizeof counts[0], by_name);
  for (int i = 0; i < used; i++) printf("%s %ld\n", counts[i].name, counts[i].calls);
}

extern const struct zoo_program __start_zoo_programs[], __stop_zoo_programs[];

QUIET int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (const struct zoo_program *p = __start_zoo_programs; p < __stop_zoo_programs; p++) {
      printf("%s %ld\n", p->name, p->argument);
    }
    return 0;
  }
  if (argc < 3) fail("usage: oracle PROGRAM tree|tree-O0|counts [ARGUMENT]");
  for (const struct zoo_program *p = __start_zoo_programs; p < __stop_zoo_programs; p++) {
    if (strcmp(p->name, argv[1]) != 0) continue;
    no_tails = strcmp(argv[2], "tree-O0") == 0;
    int code = p->run(argc > 3 ? atol(argv[3]) : p->argument);
    if (code != 0) {
      fprintf(stderr, "oracle: %s: check failed, code %d\n", argv[1], code);
      return 1;
    }
    if (now->depth != 0) fail("calls are still open at the end");
    if (strncmp(argv[2], "tree", 4) == 0 && first.name != NULL) {
      print_contexts();
    } else if (strncmp(argv[2], "tree", 4) == 0) {
      print_trees(first.root.first, 0);
    } else {
      print_counts();
    }
    return 0;
  }
  fail("no such program");
}
