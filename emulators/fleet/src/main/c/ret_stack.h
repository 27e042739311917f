/* ret_stack: the same decisions as RetStack in Java. */
#ifndef RETSTACK_RET_STACK_H
#define RETSTACK_RET_STACK_H

#include "core.h"

/* True for an address where returns arrive, and others right behind trampolines. Homes end where handler slots begin. */
HOT int is_place(const struct core *c, uint64_t address) {
  return address - c->homes_start < c->handlers_end - c->homes_start ||
         address - c->trampoline_start < c->trampoline_end - c->trampoline_start;
}

/* The place at an address: a handler slot, or from their number on a home, and behind those a trampoline; or NONE. */
static __attribute__((noinline)) int64_t place_at(const struct core *c, uint64_t address) {
  if (!is_place(c, address)) {
    return NONE;
  }
  if (address - c->landing_start < c->handlers_end - c->landing_start) {
    return (int64_t)((address - c->landing_start) >> c->landing_shift);
  }
  return (int64_t)(c->handlers + (address - c->homes_start < c->landing_start - c->homes_start
                                      ? (address - c->homes_start) >> HOME_SHIFT
                                      : HOMES + ((address - c->trampoline_start) >> c->trampoline_shift)));
}

static uint64_t handler_slot(const struct core *c, uint64_t frame) {
  return c->landing_start + ((frame & (c->handlers - 1)) << c->landing_shift);
}

/* One cheap test: true where an address is of the stack that the current context runs on. */
HOT int in_window(const struct core *c, uint64_t address) {
  return address - c->stack_low < c->stack_size;
}

static int nearer(const struct core *c, int64_t frame, int64_t than, uint64_t above) {
  uint64_t ret_p = c->frames[frame].ret_p, other = c->frames[than].ret_p;
  return ret_p < above && (ret_p > other || other >= above);
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

/* Where a frame returns, as Java numbers it: its handler slot, or from their number on its home or trampoline. */
static uint64_t place_of(const struct core *c, const struct frame *f, uint64_t depth) {
  return f->way > 0 ? c->handlers + f->way - 1 : depth & (c->handlers - 1);
}

/*
 * The frame that returns at a place: the topmost, unless a lower one's slot lies nearer below `above`; then those over it
 * are dead. One that gave way to a tail call is none of them. Where none is alive a dead one, at or above frame_count; or
 * NONE. As RetStack.find().
 */
static __attribute__((noinline)) int64_t find(const struct core *c, int64_t place, uint64_t above) {
  int is_slot = place < (int64_t)c->handlers;
  int64_t step = is_slot ? (int64_t)c->handlers : 1; /* the frames of a handler slot are so far apart */
  int64_t top = is_slot ? topmost(c, place) : (int64_t)c->frame_count - 1, best = NONE;
  for (int64_t i = top; i >= 0; i -= step) {
    int is_none = gave_way(c, i) && (!is_slot || best >= 0);
    if (is_none || place_of(c, &c->frames[i], (uint64_t)i) != (uint64_t)place) {
      continue;
    }
    if (best < 0 || nearer(c, i, best, above)) {
      best = i;
    } else if (c->frames[best].ret_p < above) {
      break;
    }
  }
  if (best >= 0) {
    return best;
  }
  for (int64_t i = top + step; i < (int64_t)c->frames_used; i += step) {
    if (place_of(c, &c->frames[i], (uint64_t)i) == (uint64_t)place && (best < 0 || nearer(c, i, best, above))) {
      best = i;
    }
  }
  return best;
}

/* The frames up to the one whose slot that is: they are the callers. 0 where there is none. */
static uint64_t callers(const struct core *c, uint64_t caller_slot) {
  for (int64_t i = (int64_t)c->frame_count - 1; i >= 0; i--) {
    uint64_t ret_p = c->frames[i].ret_p;
    if (ret_p == caller_slot) {
      return (uint64_t)i + 1;
    }
    if (ret_p > caller_slot || !c->frames[i].framed) {
      return 0;
    }
  }
  return 0;
}

/* How many frames a new one stands on: a longjmp left the others. */
HOT uint64_t living(const struct core *c, const struct card *card, int64_t tail_caller, uint64_t ret_p, uint64_t fp) {
  uint64_t count = (uint64_t)(tail_caller + 1); /* NONE: nobody */
  if (count == 0 && card->has_slot_from_fp) {
    count = callers(c, (fp + (uint64_t)card->slot_from_fp) & c->word_mask);
  }
  if (count == 0) {
    count = c->frame_count;
    while (count > 0 && c->frames[count - 1].ret_p <= ret_p) {
      count--;
    }
  }
  return count;
}

/* The frame that gave way to a frame at last. */
static uint64_t first_of_chain(const struct core *c, uint64_t frame) {
  while (frame > 0 && c->frames[frame].tail) {
    frame--;
  }
  return frame;
}

/* All but so many frames are taken for dead, and remembered. False where Java must do it: then nothing was done. */
static __attribute__((noinline)) int give_up(struct core *c, uint64_t keep) {
  if (c->frame_count - keep > FRESH - c->fresh_count) {
    c->stop_value = keep;
    return 0;
  }
  for (uint64_t i = keep; i < c->frame_count; i++) {
    if (gave_way(c, (int64_t)i)) {
      continue; /* its slot is that of the one above, which returns to where this one would */
    }
    struct frame *f = &c->fresh[c->fresh_count];
    *f = c->frames[i];
    f->from_pc = c->frames[first_of_chain(c, i)].from_pc;
    c->fresh_depth[c->fresh_count++] = i;
  }
  c->frame_count = keep;
  c->any_given_up = 1;
  return 1;
}

/*
 * True where a frame that was given up returns through a place, and its slot lies between two addresses; or where that must
 * be asked.
 */
static __attribute__((noinline)) int is_given_up_between(struct core *c, uint64_t place, uint64_t below, uint64_t above) {
  if (c->given_up_stale) {
    c->unsure = 1;
    return 1;
  }
  uint64_t low = 0, high = c->given_up_count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (c->given_up[middle].ret_p < above) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  int found = 0;
  for (; !found && low > 0 && c->given_up[low - 1].ret_p > below; low--) {
    found = c->given_up[low - 1].place == place;
  }
  for (uint64_t i = 0; !found && i < c->fresh_count; i++) {
    const struct frame *f = &c->fresh[i];
    found = f->ret_p > below && f->ret_p < above && place_of(c, f, c->fresh_depth[i]) == place;
  }
  return found;
}

/*
 * Where a frame that was given up returned through a place and left the stack pointer at `exit`: where that went on; else
 * `from`. `unsure` where Java must be asked. Rare.
 */
static __attribute__((noinline)) uint64_t given_up_at(struct core *c, uint64_t place, uint64_t exit, uint64_t from) {
  for (uint64_t i = c->fresh_count; i > 0; i--) { /* the latest counts */
    const struct frame *f = &c->fresh[i - 1];
    if (f->ret_p + f->up == exit && place_of(c, f, c->fresh_depth[i - 1]) == place) {
      return f->from_pc;
    }
  }
  if (c->given_up_stale) {
    c->unsure = 1;
    return from;
  }
  for (uint64_t i = c->given_up_count; i > 0; i--) {
    const struct given_up *g = &c->given_up[i - 1];
    if (g->ret_p + g->up == exit && g->place == place) {
      return g->from_pc;
    }
  }
  return from;
}

#endif
