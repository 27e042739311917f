/* Exits: what a hijacked return that has arrived says, and where it goes on. */
#ifndef RETSTACK_EXIT_H
#define RETSTACK_EXIT_H

#include "records.h"
#include "ret_stack.h"
#include "rules.h"

HOT void record_exit(uc_engine *uc, struct core *c, uint64_t frame, int settled) {
  const struct frame *f = &c->frames[frame];
  const struct card *card = &c->cards[f->card];
  uint64_t slot = f->ret_p, fp = 0;
  if (card->settles_later && !settled) {
    c->unsettled = card;
  } else {
    int failed = 0;
    uint64_t values[FORETOLD];
    for (int i = 0; i < card->foretold; i++) {
      values[i] = value(uc, c, &card->retp_at_exit[i], &failed);
    }
    slot = foretold(card, values, f->ret_p);
    fp = value(uc, c, &card->fp_at_exit, &failed);
  }
  record(c, RECORD_EXIT, frame, f->self_pc, f->from_pc & c->code_mask, slot, fp);
}

static void leave(uc_engine *uc, struct core *c, uint64_t address, int64_t handler) {
  int64_t frame = topmost(c, handler), below = frame - (int64_t)c->handlers;
  if (frame < 0 || below >= 0) { /* else it is the only one */
    uint64_t above = reg_read(uc, c, (int)c->stack_pointer) + c->slot_reach;
    if (frame < 0 || c->frames[below].ret_p < above) { /* else the one below is that of a caller */
      frame = find(c, handler, above);
    }
  }
  if (frame < 0) { /* Java knows how to say it */
    c->stop_value = (uint64_t)handler;
    stop_before(uc, c, address, ASK_BLOCK);
    return;
  }
  const struct frame *f = &c->frames[frame];
  int left = EXIT_RECORDED;
  if (__builtin_expect(c->mode | (uint64_t)f->special, 0)) {
    left = leave_by_rules(c, (uint64_t)frame);
    if (left == STOP_BATCH_FULL) {
      stop_before(uc, c, address, left);
      return;
    }
  }
  if (__builtin_expect(left != EXIT_SILENT, 1)) {
    record_exit(uc, c, (uint64_t)frame, left == EXIT_RETURNS);
  }
  if (__builtin_expect(left == EXIT_RETURNS, 0)) {
    int64_t time = c->ring->time[c->record_count - 1];
    uint32_t format = (uint32_t)f->special >> FRAME_FORMAT_SHIFT;
    record_at(c, time, RECORD_VALUES, values_depth(0, 1, format), reg_read(uc, c, (int)c->result) & c->word_mask, 0, 0, 0);
  }
  if ((uint64_t)frame < c->frame_count) {
    c->frame_count = (uint64_t)frame;
  }
  uint64_t handler_start = c->landing_start + ((uint64_t)handler << c->landing_shift);
  store(c, c->mailbox, (f->from_pc + (address - handler_start)) & c->word_mask);
}

#endif
