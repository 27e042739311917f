// What a program of the zoo needs: the marks of traced functions, the registry, the runtime's helpers.
#ifndef RETSTACK_ZOO_H
#define RETSTACK_ZOO_H

// A function that stands in the call tree. The compiler may neither inline, clone, fold nor look into it,
// so the calls of the source are the calls of the machine code on every ISA.
#ifdef __clang__  // which believes nothing of a function that another may replace
#define TRACED __attribute__((noinline, weak))
#else
#define TRACED __attribute__((noinline, noclone, noipa))
#endif

// A helper that never stands in the call tree.
#define HELPER static inline __attribute__((always_inline, no_instrument_function))

// Returns `code` from a run function when a result is wrong. Codes are 1..99, distinct within a program.
#define CHECK(code, condition)   \
  do {                           \
    if (!(condition)) return (code); \
  } while (0)

struct zoo_program {
  const char *name;
  int (*run)(long argument);  // root of the program's tree; 0, or the code of the check that failed
  long argument;              // what the tree file was made with
};

// Registers `run_<program>` under its name. The linker collects the entries, there is no list to keep.
#define ZOO_PROGRAM(program, default_argument)                                          \
  int run_##program(long argument);                                                     \
  static const struct zoo_program zoo_entry_##program                                   \
      __attribute__((used, section("zoo_programs"), aligned(sizeof(void *)))) = {       \
          #program, run_##program, default_argument};                                   \
  TRACED int run_##program(long argument)

// Linux `write`: bytes written, or a negative error number.
long zoo_write(int file, const void *bytes, unsigned long count);

// Calls `function(argument)` and gives the caller its own frame pointer back, whatever the function did to it.
long zoo_call_preserving_frame(long (*function)(long), long argument);

typedef struct {
  unsigned long long words[40];  // the widest: ppc64, 39 registers
} zoo_jmp_buf;

#ifdef ZOO_ORACLE
#include <setjmp.h>
// The native oracle (tools/oracle.c) cannot see these three by entry and exit hooks: the source tells it.
void oracle_tail(void);
void oracle_wrong_frame_pointer(void);
void oracle_setjmp(const zoo_jmp_buf *place);
void oracle_longjmp(const zoo_jmp_buf *place);
#define TAIL_CALL(call) (oracle_tail(), (call))
#define PLANT_WRONG_FRAME_POINTER() oracle_wrong_frame_pointer()
#define zoo_setjmp(place) (oracle_setjmp(place), _setjmp((struct __jmp_buf_tag *)(place)))
#define zoo_longjmp(place, value) (oracle_longjmp(place), longjmp((struct __jmp_buf_tag *)(place), value))
#else
int zoo_setjmp(zoo_jmp_buf *place) __attribute__((returns_twice));
void zoo_longjmp(zoo_jmp_buf *place, int value) __attribute__((noreturn));

// `return TAIL_CALL(f(x));` marks a call that must become a jump. Its arguments must not call traced functions.
#define TAIL_CALL(call) (call)

// Where a frame keeps the caller's frame pointer, in words from the frame's base (psABI frame layouts, gcc's order of
// the saved registers in a function that calls others). The base is the frame address, or the address that the frame
// begins below (DWARF's CFA) where the layout counts from there.
#if defined(__riscv)
#define ZOO_FRAME_BASE __builtin_frame_address(0)
#define ZOO_SAVED_FRAME_POINTER (-2)
#elif defined(__thumb__) || defined(__mips__)
#define ZOO_FRAME_BASE __builtin_dwarf_cfa()
#define ZOO_SAVED_FRAME_POINTER (-2)
#elif defined(__arm__)
#define ZOO_FRAME_BASE __builtin_frame_address(0)
#define ZOO_SAVED_FRAME_POINTER (-3)
#elif defined(__powerpc__)
#define ZOO_FRAME_BASE __builtin_dwarf_cfa()
#define ZOO_SAVED_FRAME_POINTER (-1)
#elif defined(__s390x__)
#define ZOO_FRAME_BASE __builtin_dwarf_cfa()
#define ZOO_SAVED_FRAME_POINTER (-9)
#elif defined(__sparc__)
#define ZOO_FRAME_BASE __builtin_dwarf_cfa()
#define ZOO_SAVED_FRAME_POINTER 14
#else
#define ZOO_FRAME_BASE __builtin_frame_address(0)
#define ZOO_SAVED_FRAME_POINTER 0
#endif

// Moves the caller's frame pointer, as saved in this frame, by 64 bytes: the caller gets a wrong one at the exit.
#define PLANT_WRONG_FRAME_POINTER() (((volatile unsigned long *)ZOO_FRAME_BASE)[ZOO_SAVED_FRAME_POINTER] += 64)
#endif

#endif
