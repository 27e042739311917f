/*
 * Unwinders read return addresses, and must see the true ones; a longjmp leaves frames dead. The core stops where one is
 * called and where it was left, and Unwinding does the rest.
 */
#ifndef RETSTACK_UNWIND_H
#define RETSTACK_UNWIND_H

#include "guest.h"

static int is_any_over(uc_engine *uc, struct core *c, uint64_t address) {
  c->known_reg[0] = FORGOTTEN;
  c->known_reg[1] = FORGOTTEN;
  uint64_t sp = reg_read(uc, c, ANY, (int)c->stack_pointer) & c->word_mask;
  for (uint64_t i = 0; i < c->walk_count; i++) {
    const struct walk *w = &c->walks[i];
    if (sp - w->first < w->span && (address - w->code >= w->code_bytes || address == w->back)) {
      return 1;
    }
  }
  return 0;
}

/* Of a block of the program: true where the core was stopped to have it met by Unwinding. */
static __attribute__((noinline)) int meets_unwinder(uc_engine *uc, struct core *c, uint64_t address, int leaves) {
  if (c->met == address) {
    c->met = UNMET;
    return 0;
  }
  if (!leaves && !is_any_over(uc, c, address)) {
    return 0;
  }
  c->stop_time = time_now(c);
  stop_before(uc, c, address, ASK_UNWINDER);
  return 1;
}

#endif
