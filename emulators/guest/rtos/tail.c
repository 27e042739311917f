// Tail calls in a task: built with -foptimize-sibling-calls, as programs/tail.c is.
#include "zoo.h"

TRACED long tail_pong(long left, long count);

TRACED long tail_ping(long left, long count) { return left == 0 ? count : TAIL_CALL(tail_pong(left - 1, count + 1)); }

TRACED long tail_pong(long left, long count) { return left == 0 ? count : TAIL_CALL(tail_ping(left - 1, count + 1)); }

TRACED long tail_start(long rounds, long count) { return TAIL_CALL(tail_ping(rounds, count)); }
