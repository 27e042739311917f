// A small interpreter: a stack machine whose operations are functions behind a table, with subroutines that open a
// nested run. The shape of most real event loops: one wide function, many short callees.
#include "zoo.h"

enum { PUSH, ADD, MULTIPLY, DUPLICATE, DROP, LOAD, STORE, JUMP_UNLESS_ZERO, CALL, END };

struct machine {
  const signed char *code;
  int position, depth;
  long stack[16], cells[2];
};

typedef void (*instruction)(struct machine *m);

HELPER long pop(struct machine *m) { return m->stack[--m->depth]; }

HELPER void push(struct machine *m, long value) { m->stack[m->depth++] = value; }

HELPER int operand(struct machine *m) { return m->code[m->position++]; }

TRACED void machine_run(struct machine *m, int start);

TRACED void do_push(struct machine *m) { push(m, operand(m)); }

TRACED void do_add(struct machine *m) {
  long right = pop(m);
  push(m, pop(m) + right);
}

TRACED void do_multiply(struct machine *m) {
  long right = pop(m);
  push(m, pop(m) * right);
}

TRACED void do_duplicate(struct machine *m) { push(m, m->stack[m->depth - 1]); }

TRACED void do_drop(struct machine *m) { m->depth--; }

TRACED void do_load(struct machine *m) { push(m, m->cells[operand(m)]); }

TRACED void do_store(struct machine *m) {
  int cell = operand(m);
  m->cells[cell] = pop(m);
}

TRACED void do_jump_unless_zero(struct machine *m) {
  int target = operand(m);
  if (m->stack[m->depth - 1] != 0) m->position = target;
}

TRACED void do_call(struct machine *m) {
  int target = operand(m), back = m->position;
  machine_run(m, target);
  m->position = back;
}

static const instruction instructions[] = {do_push, do_add,   do_multiply,         do_duplicate, do_drop,
                                           do_load, do_store, do_jump_unless_zero, do_call};

TRACED void machine_run(struct machine *m, int start) {
  m->position = start;
  for (;;) {
    int code = operand(m);
    if (code == END) return;
    instructions[code](m);
  }
}

// cells[0] = n, cells[1] = sum of the squares 1..n
static const signed char sum_of_squares[] = {
    /*  0 */ LOAD, 0,                    // n
    /*  2 */ DUPLICATE,                  // n n
    /*  3 */ CALL, 16,                   // n n*n
    /*  5 */ LOAD, 1, ADD, STORE, 1,     // n
    /* 10 */ PUSH, -1, ADD,              // n-1
    /* 13 */ JUMP_UNLESS_ZERO, 2,        //
    /* 15 */ END,
    /* 16 */ DUPLICATE, MULTIPLY, END};

ZOO_PROGRAM(interpreter, 4) {
  CHECK(1, argument > 0 && argument <= 1000000);
  struct machine m = {.code = sum_of_squares, .cells = {argument, 0}};
  machine_run(&m, 0);
  CHECK(2, m.cells[1] == argument * (argument + 1) * (2 * argument + 1) / 6);
  CHECK(3, m.depth == 1);
  do_drop(&m);
  CHECK(4, m.depth == 0);
  return 0;
}
