/* ret_stack: the same decisions as RetStack in Java. */
#ifndef RETSTACK_RET_STACK_H
#define RETSTACK_RET_STACK_H

#include "core.h"

static int64_t handler_at(const struct core *c, uint64_t address) {
  uint64_t offset = address - c->landing_start;
  return offset < c->handlers_end - c->landing_start ? (int64_t)(offset >> c->landing_shift) : NONE;
}

/* One cheap test: true where an address is of the stack that the current context runs on. */
HOT int in_window(const struct core *c, uint64_t address) {
  return address - c->stack_low < c->stack_size;
}

static int nearer(const struct core *c, int64_t frame, int64_t than, uint64_t above) {
  return c->frames[frame].ret_p < above && c->frames[frame].ret_p > c->frames[than].ret_p;
}

/*
 * True where the frame above was entered by a tail call from this one. It returns after that one only, and where its slot
 * was another may be now.
 */
static int gave_way(const struct core *c, int64_t frame) {
  return frame + 1 < (int64_t)c->frame_count && c->frames[frame + 1].tail;
}

/* The topmost frame of a handler slot; negative where there is none alive. */
static int64_t topmost(const struct core *c, int64_t handler) {
  int64_t last = (int64_t)c->frame_count - 1;
  return last - ((last - handler) & ((int64_t)c->handlers - 1));
}

static __attribute__((noinline)) int64_t find(const struct core *c, int64_t handler, uint64_t above) {
  int64_t handlers = (int64_t)c->handlers;
  int64_t top = topmost(c, handler);
  int64_t best = NONE;
  if (top < 0) {
    for (int64_t i = handler; i < (int64_t)c->frames_used; i += handlers) {
      if (best < 0 || nearer(c, i, best, above)) {
        best = i;
      }
    }
    return best;
  }
  best = top;
  for (int64_t i = top - handlers; i >= 0; i -= handlers) {
    if (gave_way(c, i)) {
      continue;
    }
    if (!nearer(c, i, best, above)) {
      break;
    }
    best = i;
  }
  return best;
}

static int returns_through(const struct core *c, int64_t frame, uint16_t number) {
  return c->frames[frame].trampoline == number;
}

/*
 * The frame that returns through a trampoline, by the rule of find(): the topmost, unless a lower one's slot lies nearer
 * below `above`. Where none is alive a dead one, at or above frame_count; or NONE.
 */
static __attribute__((noinline)) int64_t find_through(const struct core *c, uint16_t number, uint64_t above) {
  int64_t best = NONE;
  for (int64_t i = (int64_t)c->frame_count - 1; i >= 0; i--) {
    if (!returns_through(c, i, number) || gave_way(c, i)) {
      continue;
    }
    if (best >= 0 && !nearer(c, i, best, above)) {
      return best;
    }
    best = i;
  }
  if (best >= 0) {
    return best;
  }
  for (int64_t i = (int64_t)c->frame_count; i < (int64_t)c->frames_used; i++) {
    if (returns_through(c, i, number) && (best < 0 || nearer(c, i, best, above))) {
      best = i;
    }
  }
  return best;
}

static int drop_above(struct core *c, uint64_t caller_slot) {
  for (int64_t i = (int64_t)c->frame_count - 1; i >= 0; i--) {
    uint64_t ret_p = c->frames[i].ret_p;
    if (ret_p == caller_slot) {
      c->frame_count = (uint64_t)i + 1;
      return 1;
    }
    if (ret_p > caller_slot || !c->frames[i].framed) {
      return 0;
    }
  }
  return 0;
}

/* True where the caller that was tail-called away is known: the frames above it are gone. */
static __attribute__((noinline)) int drop_above_tail_caller(struct core *c, int64_t handler, uint64_t ret_p) {
  int64_t frame = find(c, handler, ret_p + 1);
  if (frame < 0 || frame >= (int64_t)c->frame_count) {
    return 0;
  }
  c->frame_count = (uint64_t)frame + 1;
  return 1;
}

/* What a longjmp left must go before a new frame is put there. */
HOT void drop_dead_frames(struct core *c, const struct card *card, int64_t tail_caller, uint64_t ret_p, uint64_t fp) {
  if (tail_caller >= 0 && drop_above_tail_caller(c, tail_caller, ret_p)) {
    return;
  }
  if (!card->has_slot_from_fp || !drop_above(c, (fp + (uint64_t)card->slot_from_fp) & c->word_mask)) {
    while (c->frame_count > 0 && c->frames[c->frame_count - 1].ret_p <= ret_p) {
      c->frame_count--;
    }
  }
}

#endif
