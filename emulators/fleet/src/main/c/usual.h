/*
 * The usual entry and exit, which are most of a trace: every question that enter_frame() and leave() ask has its usual
 * answer. Where one has not, nothing is done here, and those are called. So nothing is decided here, and nothing called.
 */
#ifndef RETSTACK_USUAL_H
#define RETSTACK_USUAL_H

#include "entry.h"
#include "exit.h"

/* The virtual clock, no settings, no frames that were given up, room for a record. */
HOT int is_usual(const struct core *c) {
  return c->long_words && !(c->mode | c->host_clock | c->any_given_up | c->regions_stale) &&
         c->record_count != c->record_capacity;
}

/* True where the first slot holds the return address. */
HOT int takes_first_slot(uc_engine *uc, struct core *c, const struct card *card, const struct site *site,
                         struct taken *t, uint64_t *fp) {
  const struct slot *slot = card->slots;
  int failed = card->slot_count == 0 || (slot->only != WHERE_UNKNOWN && slot->only != site->where);
  if (failed || !holds_return_address(uc, c, USUAL, card, site, slot, t, &failed)) {
    return 0;
  }
  *fp = value(uc, c, USUAL, &card->fp_at_entry, &failed);
  return !failed;
}

/* False where nothing was done. The time of the entry is `now`. */
HOT int enter_usually(uc_engine *uc, struct core *c, const struct site *site, uint64_t now) {
  if (__builtin_expect(!is_usual(c) || site->special || c->frame_count == c->frame_capacity, 0)) {
    return 0;
  }
  const struct card *card = &c->cards[site->card];
  struct taken t = {NULL, 0, 0, 0, NULL, NONE, 0};
  uint64_t fp;
  if (__builtin_expect(!takes_first_slot(uc, c, card, site, &t, &fp) || !in_window(c, t.ret_p) ||
                           living(c, card, NONE, t.ret_p, fp) != c->frame_count,
                       0)) {
    return 0;
  }
  uint16_t way = 0;
  int is_known = c->trampolines != NULL && trampoline_of(c, t.from)->target == t.from; /* so it is no place either */
  if (__builtin_expect(is_known, 1)) {
    way = trampoline_of(c, t.from)->number;
  } else if (is_place(c, t.from & c->code_mask) || !has_trampoline(c, t.from, &way)) {
    return 0;
  }
  uint64_t index = hijack(uc, c, USUAL, site, &t, fp, 0, way);
  c->frames[index].time = (int64_t)now;
  c->shown = 0;
  record_at(c, (int64_t)now, RECORD_ENTRY, index, site->self_pc, t.from & c->code_mask, t.ret_p, fp);
  return 1;
}

/* Rule R1: true where the topmost frame returns at a place. */
HOT int topmost_returns(const struct core *c, const struct frame *f, int64_t top, int64_t place, uint64_t above) {
  int64_t step = f->way ? 1 : (int64_t)c->handlers;
  return place_of(c, f, (uint64_t)top) == (uint64_t)place && f->ret_p < above &&
         (top < step || f[-step].ret_p >= above);
}

/* False where nothing was done. */
HOT int leave_usually(uc_engine *uc, struct core *c, uint64_t address, int64_t place) {
  int64_t top = (int64_t)c->frame_count - 1;
  const struct frame *f = &c->frames[top];
  if (__builtin_expect(!is_usual(c) || top < 0 || f->special, 0)) {
    return 0;
  }
  uint64_t sp = reg_read(uc, c, USUAL, (int)c->stack_pointer);
  if (__builtin_expect(!topmost_returns(c, f, top, place, sp + c->slot_reach) || !in_window(c, sp), 0)) {
    return 0;
  }
  const struct card *card = &c->cards[f->card];
  int failed = 0;
  uint64_t slot = card->foretold > 0 ? value(uc, c, USUAL, card->retp_at_exit, &failed) : f->ret_p;
  uint64_t fp = value(uc, c, USUAL, &card->fp_at_exit, &failed);
  if (__builtin_expect(failed || (slot != f->ret_p && card->foretold > 1), 0)) {
    return 0;
  }
  record_at(c, (int64_t)c->now, RECORD_EXIT, (uint64_t)top, f->self_pc, f->from_pc & c->code_mask, slot, fp);
  c->shown = 0;
  c->last = &c->nowhere;
  c->frame_count = (uint64_t)top;
  c->watched = top > 0 ? f[-1].watched : UNWATCHED;
  go_on(c, USUAL, address, place, f->from_pc);
  return 1;
}

#endif
