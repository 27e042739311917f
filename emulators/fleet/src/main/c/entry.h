/* Entries: hijacks the slot that holds the return address of a function, and records the call. */
#ifndef RETSTACK_ENTRY_H
#define RETSTACK_ENTRY_H

#include "rules.h"

/* STOP_NONE, or why Java must be asked first; then nothing was done. */
static int enter(uc_engine *uc, struct core *c, const struct site *site) {
  if (__builtin_expect(c->mode | site->special, 0)) {
    return enter_by_rules(uc, c, site);
  }
  const struct card *card = &c->cards[site->card];
  struct taken t = {NULL, 0, 0, 0, NULL, NONE, 0};
  uint64_t fp;
  if (!take_slot(uc, c, card, site, &t, &fp)) {
    return STOP_NONE;
  }
  if (__builtin_expect(!in_window(c, t.ret_p), 0)) {
    return outside(c, t.ret_p, fp);
  }
  if (ret_stack_is_small(c)) {
    return ASK_FRAMES;
  }
  look_for_tail_call(c, site, &t);
  uint16_t way = 0;
  if (__builtin_expect(t.tail_called, 0)) {
    if (c->unsure) {
      return ASK_WHICH_GIVEN_UP;
    }
  } else if (!has_trampoline(c, t.from, &way)) {
    return ASK_TRAMPOLINE;
  }
  uint64_t keep = living(c, card, t.tail_caller, t.ret_p, fp);
  if (__builtin_expect(keep != c->frame_count, 0) && !give_up(c, keep)) {
    return ASK_GIVEN_UP;
  }
  if (c->frame_count == c->frame_limit) {
    overrun(c, site, t.from);
    return STOP_NONE;
  }
  if (__builtin_expect(c->any_given_up && way == 0, 0) && !has_home(c, &t, &way)) {
    return ASK_HOME;
  }
  uint64_t index = hijack(uc, c, site, &t, 0, way);
  record(c, RECORD_ENTRY, index, site->self_pc, t.from & c->code_mask, t.ret_p, fp);
  return STOP_NONE;
}

static __attribute__((noinline)) void called(uc_engine *uc, struct core *c, const struct block *b) {
  int failed = 0;
  uint64_t back = value(uc, c, &c->cards[b->what >> KIND_BITS].return_address, &failed) & c->code_mask;
  if (failed) {
    c->unhijackable++;
    return;
  }
  uint64_t i = bucket(back) & c->site_mask;
  while (c->sites[i].used && c->sites[i].key != back) {
    i = (i + 1) & c->site_mask;
  }
  if (!c->sites[i].used) {
    c->stop_value = back;
    stop_before(uc, c, b->address, ASK_SITE);
    return;
  }
  int asked = enter(uc, c, &c->sites[i]);
  if (asked != STOP_NONE) {
    stop_before(uc, c, b->address, asked);
  }
}

#endif
