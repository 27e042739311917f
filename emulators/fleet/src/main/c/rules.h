/*
 * Entries and exits under settings: what enter_frame() and leave() ask where more than hijack and record is wanted. The same
 * decisions as JavaProbe.
 *
 * Frames without a record of their entry are the topmost ones, from `written` on: an exit writes the entries of all
 * frames below it, so times never decrease. A hidden frame is the topmost one: nothing is put above it.
 */
#ifndef RETSTACK_RULES_H
#define RETSTACK_RULES_H

#include "slot.h"

/* After the dead frames have gone: true where the settings say that the new frame is none. */
static int ignored(struct core *c, const struct site *site) {
  uint64_t index = c->frame_count;
  if (c->muted || (site->special & SPECIAL_MUTE)) {
    return 1;
  }
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

/* False where nothing is late any more: all that was is written or gone. */
static int keep_back(struct core *c, uint64_t index) {
  if (c->written > index) {
    c->written = index;
  }
  if (c->min_duration == 0 && c->written == index) {
    c->mode &= ~(uint64_t)MODE_LATE;
    return 0;
  }
  c->frames[index].time = time_now(c);
  return 1;
}

/* False where the ring has no room for that number of records: the batch is full, then. */
static int has_room(struct core *c, uint64_t records) {
  c->stop_value = records;
  return c->record_capacity - c->record_count >= records;
}

static void record_arguments(uc_engine *uc, struct core *c, const struct site *site) {
  if (!(site->special & SPECIAL_ARGUMENTS)) {
    return;
  }
  const struct operand *at = c->arguments[site->card].at;
  uint64_t values[ARGUMENTS + VALUES_EACH] = {0};
  int64_t time = c->ring->time[c->record_count - 1];
  for (uint32_t i = site->first_argument; i < site->end_argument; i++) {
    int failed = 0;
    values[i - site->first_argument] = value(uc, c, ANY, &at[i], &failed); /* 0 where it cannot be read */
  }
  for (uint32_t i = site->first_argument; i < site->end_argument; i += VALUES_EACH) {
    const uint64_t *v = values + (i - site->first_argument);
    record_at(c, time, RECORD_VALUES, values_depth(i, site->end_argument - i, site->argument_format), v[0], v[1], v[2], v[3]);
  }
}

/* An entry without a frame: depth is 0, or where ret_stack is full the frames in it. */
static void record_function(struct core *c, const struct site *site, uint64_t from, uint64_t depth) {
  record(c, RECORD_FUNCTION, depth, site->self_pc, original(c, from) & c->code_mask, 0, 0);
}

/* ret_stack is full: the entry gets a record without a frame, but not ahead of entries that are kept back. */
static __attribute__((noinline)) void overrun(struct core *c, const struct site *site, uint64_t from) {
  c->overruns++;
  if (!(c->mode & MODE_LATE) || c->written >= c->frame_count) {
    record_function(c, site, from, c->frame_limit);
  }
}

static uint64_t task_now(const struct core *c) {
  if (c->task_bytes == c->word_bytes) {
    return load(c, ANY, c->task_variable);
  }
  uint8_t small = *c->task_variable;
  uint16_t medium;
  uint32_t large;
  switch (c->task_bytes) {
    case 1:
      return small;
    case 2:
      memcpy(&medium, c->task_variable, 2);
      return c->swap ? __builtin_bswap16(medium) : medium;
    default:
      memcpy(&large, c->task_variable, 4);
      return c->swap ? __builtin_bswap32(large) : large;
  }
}

/* What enter() asks by in_window(). ASK_ENTRY_TASK; STOP_NONE; or NONE where the entry is to be left alone. */
static int ask_task(uc_engine *uc, struct core *c, const struct site *site, const struct taken *t, uint64_t fp) {
  int declared = (site->special & SPECIAL_TASK) ||
                 ((c->mode & MODE_DECLARED) && c->task_variable != NULL && task_now(c) != c->task_value);
  if (c->answered == ANSWER_CURRENT || (!declared && in_window(c, t->ret_p))) {
    return STOP_NONE;
  }
  if (outside(c, t->ret_p, fp) == STOP_NONE) {
    return NONE;
  }
  if (site->special & SPECIAL_TASK) {
    int failed = 0;
    c->stop_self = site->self_pc;
    c->stop_from = original(c, t->from) & c->code_mask;
    c->stop_argument = value(uc, c, ANY, &c->arguments[site->card].at[c->task_argument], &failed);
  }
  return ASK_ENTRY_TASK;
}

/* What enters without a frame is done; else it is in its context. STOP_NONE, or why Java must be asked first. */
static int place_by_rules(uc_engine *uc, struct core *c, const struct site *site, const struct taken *t, uint64_t fp,
                          int *done) {
  *done = 1;
  if ((c->mode & (MODE_FUNCTION | MODE_TASKS | MODE_DECLARED)) == MODE_FUNCTION) {
    record_function(c, site, t->from, 0);
    return STOP_NONE;
  }
  int task = ask_task(uc, c, site, t, fp);
  if (task != STOP_NONE) {
    return task == NONE ? STOP_NONE : task;
  }
  *done = (c->mode & MODE_FUNCTION) != 0;
  if (*done && !c->muted && !(site->special & SPECIAL_MUTE)) {
    record_function(c, site, t->from, 0);
  }
  return STOP_NONE;
}

static uint64_t records_of(const struct site *site) {
  uint64_t arguments = site->special & SPECIAL_ARGUMENTS ? site->end_argument - site->first_argument : 0;
  return 1 + (arguments + VALUES_EACH - 1) / VALUES_EACH;
}

static int special_of(const struct site *site) {
  int returns = site->special & SPECIAL_RETURN ? FRAME_RETURN | site->return_format << FRAME_FORMAT_SHIFT : 0;
  return site->special & SPECIAL_HIDE ? FRAME_HIDDEN : returns;
}

/* A new frame: true where its entry is recorded now. */
static int is_told(struct core *c, const struct site *site, uint64_t index) {
  if (site->special & SPECIAL_HIDE) {
    c->mode |= MODE_HIDDEN;
    return 0;
  }
  if ((c->mode & MODE_GRAPH) && c->graph_base == NONE) {
    c->graph_base = (int64_t)index;
  }
  return !(c->mode & MODE_LATE) || !keep_back(c, index);
}

/* Where records are kept back: false where there is no room for those that must stand in front of an exit. */
static int write_entries(struct core *c, uint64_t frame) {
  for (; c->written <= frame; c->written++) {
    if (!has_room(c, 1)) {
      return 0;
    }
    const struct frame *f = &c->frames[c->written];
    record_at(c, f->time, RECORD_ENTRY, c->written, f->self_pc, f->from_pc & c->code_mask, f->ret_p, f->fp);
    c->shown = 0;
  }
  return 1;
}

/* False where the batch is full: the exit comes again. */
static __attribute__((noinline)) int leave_by_rules(uc_engine *uc, struct core *c, uint64_t frame) {
  int special = c->frames[frame].special;
  int late = (c->mode & MODE_LATE) && frame < c->frame_count;
  int unwritten = late && c->written <= frame;
  if ((special & FRAME_HIDDEN) || (unwritten && time_now(c) - c->frames[frame].time < c->min_duration)) {
    return 1;
  }
  if ((unwritten && !write_entries(c, frame)) || !has_room(c, special & FRAME_RETURN ? 2 : 1)) {
    return 0;
  }
  if (late) {
    c->written = frame;
  }
  record_exit(uc, c, frame);
  exit_shown(c, frame);
  if (!(special & FRAME_RETURN)) {
    return 1;
  }
  uint64_t returned = reg_read(uc, c, ANY, (int)c->result) & c->word_mask;
  uint64_t which = values_depth(0, 1, (uint32_t)special >> FRAME_FORMAT_SHIFT);
  record_at(c, c->ring->time[c->record_count - 1], RECORD_VALUES, which, returned, 0, 0, 0);
  return 1;
}

#endif
