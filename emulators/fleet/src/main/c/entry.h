/* Entries: hijacks the slot that holds the return address of a function, and records the call. */
#ifndef RETSTACK_ENTRY_H
#define RETSTACK_ENTRY_H

#include "rules.h"

/*
 * Nothing shows where the function returns: it is counted. Where entries alone are wanted, it is recorded all the same,
 * from where the card has the return address once more, if it has.
 */
static __attribute__((noinline)) void leave_alone(uc_engine *uc, struct core *c, const struct site *site) {
  if ((c->mode & (MODE_FUNCTION | MODE_TASKS | MODE_DECLARED)) == MODE_FUNCTION) {
    int failed = 0;
    uint64_t from = value(uc, c, ANY, &c->cards[site->card].parent, &failed);
    record_function(c, site, failed ? 0 : from, 0);
    return;
  }
  c->unhijackable++;
  uint64_t i = 0;
  while (i < c->left_alone_count && c->left_alone[i] != site->self_pc) {
    i++;
  }
  if (i == c->left_alone_count && i < LEFT_ALONE) {
    c->left_alone[i] = site->self_pc;
    c->left_alone_count++;
  }
}

/*
 * An entry, in the order in which JavaProbe decides: the slot, whose it is, which frames it stands on, whether the settings
 * want it, the hijack, the record. STOP_NONE, or why Java must be asked first.
 */
HOT int enter_frame(uc_engine *uc, struct core *c, const struct site *site, const int ruled) {
  const struct card *card = &c->cards[site->card];
  struct taken t = {NULL, 0, 0, 0, NULL, NONE, 0};
  uint64_t fp;
  if (!take_slot(uc, c, ANY, card, site, &t, &fp)) {
    leave_alone(uc, c, site);
    return STOP_NONE;
  }
  if (ruled) {
    int done = 0, asked = place_by_rules(uc, c, site, &t, fp, &done);
    if (done) {
      return asked;
    }
  } else if (__builtin_expect(!in_window(c, t.ret_p), 0)) {
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
  if (__builtin_expect(keep != c->frame_count, 0) && !((c->mode & MODE_PIECES) && t.tail_caller < 0) && !give_up(c, keep)) {
    return ASK_GIVEN_UP;
  }
  if (ruled && ignored(c, site)) {
    return STOP_NONE;
  }
  if (c->frame_count == c->frame_limit) {
    overrun(c, site, t.from);
    return STOP_NONE;
  }
  if (ruled && !has_room(c, records_of(site))) {
    return STOP_BATCH_FULL;
  }
  if (__builtin_expect(c->any_given_up && way == 0, 0)) {
    int home = home_of(c, t.from, t.tail_caller);
    if (home == NONE) {
      return ASK_HOME;
    }
    way = (uint16_t)home;
  }
  uint64_t index = hijack(uc, c, ANY, site, &t, fp, ruled ? special_of(site) : 0, way);
  if (ruled && (site->special & SPECIAL_READS)) {
    c->reads = 1;
    c->stop_value = t.slot->place == PLACE_REGISTER ? 0 : t.address;
  }
  if (ruled && !is_told(c, site, index)) {
    return STOP_NONE;
  }
  int64_t time = time_now(c);
  c->frames[index].time = time;
  c->shown = 0;
  record_at(c, time, RECORD_ENTRY, index, site->self_pc, t.from & c->code_mask, t.ret_p, fp);
  if (ruled) {
    record_arguments(uc, c, site);
  }
  return STOP_NONE;
}

/* As the settings have it: rare, and so apart. */
static __attribute__((noinline)) int enter_by_rules(uc_engine *uc, struct core *c, const struct site *site) {
  if (site->special & SPECIAL_PASSED) {
    if (site->where == WHERE_UNREAD) {
      leave_alone(uc, c, site);
    }
    return STOP_NONE;
  }
  if ((site->special & SPECIAL_TRIGGER) && !c->triggered) {
    c->stop_value = site->self_pc;
    c->stop_time = time_now(c);
    return ASK_TRIGGER;
  }
  int unnoticed = (site->special & (SPECIAL_MUTE | SPECIAL_TASK)) == SPECIAL_MUTE || (c->mode & MODE_PAUSED);
  c->reads = 0;
  int asked = unnoticed ? STOP_NONE : enter_frame(uc, c, site, 1);
  c->triggered = asked != STOP_NONE && c->triggered;
  c->answered = asked != STOP_NONE ? c->answered : ANSWER_NONE;
  return c->reads && asked == STOP_NONE ? ASK_READER : asked;
}

/* STOP_NONE, or why Java must be asked first; it comes again then. */
static int enter(uc_engine *uc, struct core *c, const struct site *site) {
  return __builtin_expect(c->mode | site->special, 0) ? enter_by_rules(uc, c, site) : enter_frame(uc, c, site, 0);
}

static __attribute__((noinline)) void called(uc_engine *uc, struct core *c, const struct block *b) {
  int failed = 0;
  uint64_t back = value(uc, c, ANY, &c->cards[b->what >> KIND_BITS].return_address, &failed) & c->code_mask;
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
  c->entered = asked == ASK_READER ? b->address : UNMET;
  if (asked != STOP_NONE) {
    stop_before(uc, c, b->address, asked);
  }
}

#endif
