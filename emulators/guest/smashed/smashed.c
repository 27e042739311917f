// Planted buffer overflows: a function writes past its buffer, up to the word that holds its return address, and
// returns: into a function that is traced, into code that has run before, or to where no code is. The first two come
// back by longjmp, so the program ends right. And what looks like it and is none: an unwinder on x86 puts the address of
// its landing pad where a function has its return address that it unwinds.
#include "zoo.h"

// The word that holds the return address, in words from a base: psABI frame layouts, with a frame pointer.
#if defined(__riscv) || (defined(__arm__) && !defined(__thumb__))
#define RETURN_ADDRESS ((volatile unsigned long *)__builtin_frame_address(0) - 1)
#elif defined(__mips__)
#define RETURN_ADDRESS ((volatile unsigned long *)__builtin_dwarf_cfa() - 1)
#elif defined(__powerpc64__)
#define RETURN_ADDRESS ((volatile unsigned long *)__builtin_dwarf_cfa() + 2)
#elif defined(__powerpc__)
#define RETURN_ADDRESS ((volatile unsigned long *)__builtin_dwarf_cfa() + 1)
#else
#define RETURN_ADDRESS ((volatile unsigned long *)__builtin_frame_address(0) + 1)
#endif

enum { NO_CODE = 0x40 };

static zoo_jmp_buf place;
static volatile long visits;

TRACED long smashed_leaf(long x) { return x * 2; }

// Fills its buffer and all words from there to its return address, which lies below the buffer on some ISAs. Where the
// caller's stack pointer is saved in between (ARM), it writes the one word, by a wrong index.
TRACED long smashed_victim(unsigned long target) {
  volatile unsigned long buffer[4];
  volatile unsigned long *slot = RETURN_ADDRESS;
#ifdef __arm__
  volatile unsigned long *word = slot;
#else
  volatile unsigned long *word = buffer;
#endif
  buffer[0] = target;
  smashed_leaf((long)buffer[0]);
  for (; word != slot; word += word < slot ? 1 : -1) *word = target;
  *word = target;
  __asm__ volatile("" ::: "memory");  // ahead of what the function restores
  return 0;
}

// What lies above the victim's frame is this function's, which never goes on.
TRACED long smashed_outer(unsigned long target) {
  volatile unsigned long room[16];
  room[0] = target;
  room[8] = (unsigned long)smashed_victim(target);
  return (long)(room[0] + room[8]);
}

// Where the smashed return of the first program goes.
TRACED long smashed_target(long x) {
  smashed_leaf(x);
  zoo_longjmp(&place, 1);
}

// Where that of the second goes: it has run before, and is not traced.
__attribute__((noinline, noclone, noipa, no_instrument_function)) static void seen_before(void) {
  if (visits++ > 0) zoo_longjmp(&place, 1);
}

ZOO_PROGRAM(into_function, 1) {
  if (zoo_setjmp(&place) == 0) {
    smashed_outer((unsigned long)smashed_target);
    return 1;
  }
  CHECK(2, smashed_leaf(argument) == 2 * argument);
  return 0;
}

ZOO_PROGRAM(into_block, 1) {
  visits = 0;
  seen_before();
  if (zoo_setjmp(&place) == 0) {
    smashed_outer((unsigned long)seen_before);
    return 1;
  }
  CHECK(2, visits == 2);
  CHECK(3, smashed_leaf(argument) == 2 * argument);
  return 0;
}

ZOO_PROGRAM(into_nowhere, 1) {
  smashed_outer(NO_CODE);
  return (int)argument;
}

// longjmp over the same frames: nothing is smashed.
TRACED long smashed_jump(long x) {
  volatile long room[4];
  room[0] = smashed_leaf(x);
  if (room[0] == 2 * x) zoo_longjmp(&place, 1);
  return room[0];
}

ZOO_PROGRAM(jumps, 50) {
  for (volatile long i = 0; i < argument; i++) {
    if (zoo_setjmp(&place) == 0) {
      smashed_jump(i);
      return 1;
    }
    seen_before();
    visits = 0;
  }
  return 0;
}

#if defined(__x86_64__) || defined(__i386__)
__attribute__((noinline, noclone, noipa, no_instrument_function)) static void landing_pad(void) { zoo_longjmp(&place, 1); }

__attribute__((noinline, noclone, noipa, no_instrument_function)) static void unwind_to(char *frame) {
  __builtin_eh_return(frame - (char *)__builtin_dwarf_cfa(), landing_pad);
}

TRACED long smashed_throw(long x) {
  volatile long room[4];
  room[0] = smashed_leaf(x);
  unwind_to(__builtin_dwarf_cfa());
  return room[0];
}

ZOO_PROGRAM(unwinder, 20) {
  for (volatile long i = 0; i < argument; i++) {
    if (zoo_setjmp(&place) == 0) {
      smashed_throw(i);
      return 1;
    }
  }
  CHECK(2, smashed_leaf(argument) == 2 * argument);
  return 0;
}
#endif
