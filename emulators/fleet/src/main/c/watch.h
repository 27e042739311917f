/*
 * Returns by an overwritten slot never arrive at a handler: here they are looked for. Where a block of the program begins
 * and the stack pointer is above the slot of the topmost frame, the frame has been left. The slot then holds the handler
 * still (a longjmp, or the stack was switched), or it has become something else; where that is the very address of the
 * block, the frame may have returned there: Java says whether it has. The same decisions as SmashedReturns.
 */
#ifndef RETSTACK_WATCH_H
#define RETSTACK_WATCH_H

#include "ret_stack.h"

#include "guest.h"

HOT int is_of_program(uint32_t kind) {
  return kind != BLOCK_HANDLER && kind != BLOCK_COUNTING && kind != BLOCK_STOP && kind != BLOCK_LANDING;
}

/* Where words are short, the stack pointer is the upper half of what is loaded, and so is what it is compared with. */
HOT int is_above(const struct core *c) {
  uint64_t sp;
  memcpy(&sp, c->stack_pointer_at, 8);
  return sp > c->watched;
}

/* Where registers must be asked for, all blocks are special. */
static inline int may_have_left(uc_engine *uc, struct core *c) {
  if (c->registers != NULL || c->watched == UNWATCHED) {
    return is_above(c);
  }
  c->known_reg[0] = FORGOTTEN;
  c->known_reg[1] = FORGOTTEN;
  return (reg_read(uc, c, ANY, (int)c->stack_pointer) & c->word_mask) > c->watched >> c->watch_shift;
}

/* False where the core was stopped: it comes again. */
static __attribute__((noinline)) int watch(uc_engine *uc, struct core *c, uint64_t address) {
  if (c->regions_stale) {
    stop_before(uc, c, address, ASK_REGIONS);
    return 0;
  }
  uint64_t sp = reg_read(uc, c, ANY, (int)c->stack_pointer) & c->word_mask;
  int64_t i = (int64_t)c->frame_count - 1;
  for (; i >= 0; i--) {
    const struct frame *f = &c->frames[i];
    if (f->watched == UNWATCHED) {
      continue;
    }
    uint64_t watched = f->watched >> c->watch_shift;
    if (sp <= watched) {
      break;
    }
    const uint8_t *slot = word_at(c, ANY, watched + c->slot_reach);
    uint64_t word = slot == NULL ? f->from_pc : load(c, ANY, slot), to = word & c->code_mask;
    if (word == f->from_pc) {
      continue;
    }
    if (to == address) {
      c->stop_value = 1;
      if (c->record_count == c->record_capacity) {
        stop_before(uc, c, address, STOP_BATCH_FULL);
        return 0;
      }
      c->stop_value = (uint64_t)i;
      c->stop_count = c->last->address;
      stop_before(uc, c, address, ASK_SMASHED);
      return 0;
    }
    int hijacked = is_place(c, to);
    int unframed = !c->pushes && sp == watched + 1; /* as it is before the function has made its frame */
    if (!hijacked || unframed) {
      return 1;
    }
  }
  c->watched = i >= 0 ? c->frames[i].watched : UNWATCHED;
  return 1;
}

#endif
