/*
 * What a program of this folder says of its own calls, a line each, for the test to hold against the trace:
 *
 *   +name   a function is entered        -name   it returns
 *   ~name   it gives way to the next one by a tail call: it returns when that does
 *   ^name   a jump has come to the topmost frame of this name: all above are dead
 *   !name   an unwinder leaves this frame, the topmost one
 *   @name   the stack was switched to the one of this name; all of its frames are as they were
 *
 * Functions that are not TRACED are not instrumented.
 */
#ifndef RETSTACK_UNWIND_LOG_H
#define RETSTACK_UNWIND_LOG_H

#include <stdio.h>

#define NOT_COUNTED no_instrument_function, patchable_function_entry(0)
#define UNTRACED __attribute__((noinline, NOT_COUNTED))
#ifdef __cplusplus
#define TRACED extern "C" __attribute__((noipa))
#else
#define TRACED __attribute__((noipa))
#endif

UNTRACED static void say(char what, const char *name) { printf("%c%s\n", what, name); }

#define IN() say('+', __func__)
#define OUT() say('-', __func__)
#define GIVE_WAY() say('~', __func__)
#define LANDED() say('^', __func__)

#endif
