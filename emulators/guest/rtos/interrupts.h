// The interrupt controller of the emulator, as C sees it: three functions of the program that the emulator answers.
// emulators/guest/README.md, "Interrupts".
#ifndef RETSTACK_INTERRUPTS_H
#define RETSTACK_INTERRUPTS_H

#include "zoo.h"

// A place to go on at. Opaque; lives on the stack of who was interrupted.
typedef unsigned long interrupt_frame_t;

// What the handler is called with: the number of the timer, or this plus the number given to interrupt_trap.
enum { INTERRUPT_TRAP = 128 };

#define UNTRACED \
  __attribute__((no_instrument_function, patchable_function_entry(0), noinline, noclone, noipa))

// Interrupts the program: the handler is called, and may return another frame. 0; elsewhere than in an emulator with
// a timer it does nothing and returns 1.
unsigned long interrupt_trap(unsigned long number);

// A frame below `top` that calls entry(argument). The entry must not return.
interrupt_frame_t interrupt_frame(void *top, void (*entry)(void *), void *argument);

// Masks interrupts, or with 0 no longer; returns what it was. At the beginning they are masked.
unsigned long interrupt_mask(unsigned long masked);

#endif
