/* Entries: finds the slot that holds the return address of a function, hijacks it and records the call. */
#ifndef RETSTACK_ENTRY_H
#define RETSTACK_ENTRY_H

#include "records.h"
#include "ret_stack.h"

/* A slot that holds the function's return address. */
struct taken {
  const struct slot *slot;
  uint64_t address;
  uint64_t ret_p;
  uint64_t from;
  uint8_t *host;
};

static int holds_return_address(uc_engine *uc, struct core *c, const struct card *card, const struct site *site,
                                const struct slot *slot, struct taken *t, int *failed) {
  t->slot = slot;
  t->address = value(uc, c, &slot->address, failed);
  if (slot->place == PLACE_SAVED) {
    t->address = (t->address + (uint64_t)site->saved_at) & c->word_mask;
  }
  t->ret_p = t->address;
  if (slot->frame.reg != NONE) {
    t->ret_p = (value(uc, c, &slot->frame, failed) + (uint64_t)site->frame_bytes) & c->word_mask;
  }
  if (*failed) {
    return 0;
  }
  if (slot->place == PLACE_REGISTER) {
    t->from = (reg_read(uc, c, slot->reg) - (uint64_t)slot->addend) & c->word_mask;
    return 1;
  }
  if (t->address == 0) {
    return 0;
  }
  t->host = word_at(c, t->address);
  if (t->host == NULL) {
    *failed = 1;
    return 0;
  }
  t->from = load(c, t->host);
  return card->parent.reg == NONE || (value(uc, c, &card->parent, failed) == t->from && !*failed);
}

/* Returns 0 where Java must make room on ret_stack first; then nothing was done. */
static int enter(uc_engine *uc, struct core *c, const struct site *site) {
  const struct card *card = &c->cards[site->card];
  struct taken t = {NULL, 0, 0, 0, NULL};
  int failed = 0, found = 0;
  for (int i = 0; i < card->slot_count && !found && !failed; i++) {
    const struct slot *slot = &card->slots[i];
    if (slot->only == WHERE_UNKNOWN || slot->only == site->where) {
      found = holds_return_address(uc, c, card, site, slot, &t, &failed);
    }
  }
  uint64_t fp = found && !failed ? value(uc, c, &card->fp_at_entry, &failed) : 0;
  if (!found || failed) {
    c->unhijackable++;
    return 1;
  }
  if (c->frame_count == c->frame_capacity && c->frame_capacity < c->frame_limit) {
    return 0;
  }
  int64_t tail_caller = handler_at(c, t.from & c->code_mask);
  drop_dead_frames(c, card, tail_caller, t.ret_p, fp);
  if (c->frame_count == c->frame_limit) {
    c->overruns++;
    return 1;
  }
  uint64_t index = c->frame_count++;
  struct frame *f = &c->frames[index];
  f->self_pc = site->self_pc;
  f->from_pc = t.from;
  f->ret_p = t.ret_p;
  f->card = site->card;
  f->tail = tail_caller >= 0;
  f->framed = (int16_t)(card->frames_everywhere || site->keeps_frame);
  if (c->frames_used < c->frame_count) {
    c->frames_used = c->frame_count;
  }
  uint64_t handler = c->landing_start + ((index & (c->handlers - 1)) << c->landing_shift);
  if (t.slot->place == PLACE_REGISTER) {
    uint64_t hijacked = (handler + (uint64_t)t.slot->addend) & c->word_mask;
    c->reg_write(uc, t.slot->reg, &hijacked);
  } else {
    store(c, t.host, handler);
  }
  record(c, RECORD_ENTRY, index, site->self_pc, t.from & c->code_mask, t.ret_p, fp);
  return 1;
}

static __attribute__((noinline)) void called(uc_engine *uc, struct core *c, const struct block *b) {
  int failed = 0;
  uint64_t back = value(uc, c, &c->cards[b->what >> KIND_BITS].return_address, &failed) & c->code_mask;
  if (failed) {
    c->unhijackable++;
    return;
  }
  uint64_t i = home(back) & c->site_mask;
  while (c->sites[i].used && c->sites[i].key != back) {
    i = (i + 1) & c->site_mask;
  }
  if (!c->sites[i].used) {
    c->stop_value = back;
    stop_before(uc, c, b->address, ASK_SITE);
  } else if (!enter(uc, c, &c->sites[i])) {
    stop_before(uc, c, b->address, ASK_FRAMES);
  }
}

#endif
