// Handlers that do not do what the interrupt controller asks for: each ends the core with a sentence. Name one in --timer.
#include "interrupts.h"

static volatile interrupt_frame_t last;

UNTRACED interrupt_frame_t wrong_no_frame(interrupt_frame_t frame, unsigned long number) { return frame + number + 1; }

// The frame of the interrupt before, which is over.
UNTRACED interrupt_frame_t wrong_again(interrupt_frame_t frame, unsigned long number) {
  (void)number;
  interrupt_frame_t before = last != 0 ? last : frame;
  last = frame - 0x1000;
  return before;
}

UNTRACED interrupt_frame_t wrong_overwritten(interrupt_frame_t frame, unsigned long number) {
  ((volatile unsigned long *)frame)[3] = number;
  return frame;
}

UNTRACED interrupt_frame_t wrong_trap(interrupt_frame_t frame, unsigned long number) {
  interrupt_trap(number);
  return frame;
}

UNTRACED static void returns_at_once(void *argument) { (void)argument; }

static unsigned long small_stack[1024] __attribute__((aligned(16)));

UNTRACED interrupt_frame_t wrong_task(interrupt_frame_t frame, unsigned long number) {
  (void)frame, (void)number;
  return interrupt_frame(small_stack + 1024, returns_at_once, 0);
}

UNTRACED interrupt_frame_t wrong_stack(interrupt_frame_t frame, unsigned long number) {
  (void)number;
  interrupt_frame((void *)0x40, returns_at_once, 0);
  return frame;
}

// Right: goes on where it was. A program that waits in an idle loop is woken, and stopped by the limit of instructions.
UNTRACED interrupt_frame_t right_handler(interrupt_frame_t frame, unsigned long number) {
  last = number;
  return frame;
}

ZOO_PROGRAM(wrong, 0) {
  interrupt_mask(0);
  for (;;) {
    if (argument != 0) continue;
  }
}
