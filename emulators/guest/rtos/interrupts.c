// What the emulator answers in place of these: it stops before their first instruction.
#include "interrupts.h"

#ifndef ZOO_ORACLE
enum { NO_CONTROLLER = 1 };

UNTRACED unsigned long interrupt_trap(unsigned long number) {
  (void)number;
  return NO_CONTROLLER;
}

UNTRACED interrupt_frame_t interrupt_frame(void *top, void (*entry)(void *), void *argument) {
  (void)entry, (void)argument;
  return (interrupt_frame_t)top;
}

UNTRACED unsigned long interrupt_mask(unsigned long masked) { return masked; }
#endif
