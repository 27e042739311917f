/*
 * Entries and exits under settings: what enter() and leave() do where more than hijack and record is asked for. The same
 * decisions as JavaProbe.
 *
 * Frames without a record of their entry are the topmost ones, from `written` on: an exit writes the entries of all
 * frames below it, so times never decrease. A hidden frame is the topmost one: nothing is put above it.
 */
#ifndef RETSTACK_RULES_H
#define RETSTACK_RULES_H

#include "slot.h"

/* What the slot would hold without any hijack: where the function returns to, whoever was tail-called away. */
static uint64_t original(const struct core *c, uint64_t from) {
  for (uint64_t i = 0; i < c->handlers; i++) {
    int64_t handler = handler_at(c, from & c->code_mask);
    int64_t frame = handler < 0 ? NONE : topmost(c, handler);
    if (frame < 0) {
      break;
    }
    from = c->frames[frame].from_pc;
  }
  return from;
}

/* After the dead frames have gone: true where the settings say that the new frame is none. */
static int ignored(struct core *c, const struct site *site) {
  uint64_t index = c->frame_count;
  if (c->mode & MODE_HIDDEN) {
    if (index > 0 && (c->frames[index - 1].special & FRAME_HIDDEN)) {
      return 1;
    }
    c->mode &= ~(uint64_t)MODE_HIDDEN;
  }
  if (c->graph_base >= (int64_t)index) {
    c->graph_base = NONE;
  }
  int opens = site->special & (SPECIAL_GRAPH | SPECIAL_HIDE); /* what is hidden is hidden outside of the graph as well */
  return ((c->mode & MODE_GRAPH) && c->graph_base == NONE && !opens) ||
         ((c->mode & MODE_DEPTH) && index >= c->max_depth);
}

static void enter_late(struct core *c, uint64_t index, const struct site *site, const struct taken *t, uint64_t fp) {
  if (c->written > index) {
    c->written = index;
  }
  if (c->min_duration == 0 && c->written == index) { /* all that was late is written or gone */
    c->mode &= ~(uint64_t)MODE_LATE;
    record(c, RECORD_ENTRY, index, site->self_pc, t->from & c->code_mask, t->ret_p, fp);
    return;
  }
  c->late[index].time = time_now(c);
  c->late[index].fp = fp;
}

static int enter_recorded(uc_engine *uc, struct core *c, const struct site *site) {
  const struct card *card = &c->cards[site->card];
  struct taken t = {NULL, 0, 0, 0, NULL};
  uint64_t fp;
  if (!take_slot(uc, c, card, site, &t, &fp)) {
    return STOP_NONE;
  }
  if (c->mode & MODE_FUNCTION) {
    record(c, RECORD_FUNCTION, 0, site->self_pc, original(c, t.from) & c->code_mask, 0, 0);
    return STOP_NONE;
  }
  if (ret_stack_is_small(c)) {
    return ASK_FRAMES;
  }
  int64_t tail_caller = handler_at(c, t.from & c->code_mask);
  drop_dead_frames(c, card, tail_caller, t.ret_p, fp);
  if (ignored(c, site)) {
    return STOP_NONE;
  }
  if (c->frame_count == c->frame_limit) {
    c->overruns++;
    return STOP_NONE;
  }
  int hidden = site->special & SPECIAL_HIDE;
  uint64_t index = hijack(uc, c, site, &t, tail_caller >= 0, hidden ? FRAME_HIDDEN : 0);
  if (hidden) {
    c->mode |= MODE_HIDDEN;
    return STOP_NONE;
  }
  if ((c->mode & MODE_GRAPH) && c->graph_base == NONE) {
    c->graph_base = (int64_t)index;
  }
  if (c->mode & MODE_LATE) {
    enter_late(c, index, site, &t, fp);
  } else {
    record(c, RECORD_ENTRY, index, site->self_pc, t.from & c->code_mask, t.ret_p, fp);
  }
  return STOP_NONE;
}

/* As enter(). */
static __attribute__((noinline)) int enter_by_rules(uc_engine *uc, struct core *c, const struct site *site) {
  if ((site->special & SPECIAL_TRIGGER) && !c->triggered) {
    c->stop_value = site->self_pc;
    c->stop_time = time_now(c);
    return ASK_TRIGGER;
  }
  int asked = (site->special & SPECIAL_MUTE) || (c->mode & MODE_PAUSED) ? STOP_NONE : enter_recorded(uc, c, site);
  c->triggered = asked != STOP_NONE && c->triggered;
  return asked;
}

enum { EXIT_SILENT = -1, EXIT_RECORDED = STOP_NONE };

/* What an exit leaves: a record, or none; or STOP_BATCH_FULL: it comes again. */
static __attribute__((noinline)) int leave_by_rules(struct core *c, uint64_t frame) {
  if (c->frames[frame].special & FRAME_HIDDEN) {
    return EXIT_SILENT;
  }
  if (!(c->mode & MODE_LATE) || frame >= c->frame_count) {
    return EXIT_RECORDED;
  }
  if (c->written > frame) {
    c->written = frame;
    return EXIT_RECORDED;
  }
  if (time_now(c) - c->late[frame].time < c->min_duration) {
    return EXIT_SILENT;
  }
  for (; c->written <= frame; c->written++) {
    if (c->record_count == c->record_capacity) {
      return STOP_BATCH_FULL;
    }
    const struct frame *f = &c->frames[c->written];
    const struct late *l = &c->late[c->written];
    record_at(c, l->time, RECORD_ENTRY, c->written, f->self_pc, f->from_pc & c->code_mask, f->ret_p, l->fp);
  }
  if (c->record_count == c->record_capacity) {
    return STOP_BATCH_FULL;
  }
  c->written = frame;
  return EXIT_RECORDED;
}

#endif
