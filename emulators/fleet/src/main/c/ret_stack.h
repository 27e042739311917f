/*
 * ret_stack: which frame returns at a place, and which frames are dead. emulators/fleet/RET_STACK.md has the rules and a
 * drawing; their numbers stand at the functions here and in RetStack in Java, which decides the same.
 */
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

/* False where the slot of another frame may be nearer, since slots are in no order. */
static int is_nearest(const struct core *c, const struct frame *f, uint64_t above) {
  return !(c->mode & MODE_PIECES) || above - f->ret_p <= c->word_bytes;
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

/* Rule R1: the frame that returns at a place; else, rule R2, a dead one, at or above frame_count; or NONE. */
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
    } else if (c->frames[best].ret_p < above && is_nearest(c, &c->frames[best], above)) {
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

/* Rule R1 at a home or trampoline: the topmost nearly always. */
HOT int64_t leaving_by_way(const struct core *c, int64_t place, uint64_t above) {
  int64_t top = (int64_t)c->frame_count - 1;
  if (top >= 0 && c->frames[top].way == place - (int64_t)c->handlers + 1 && (top == 0 || c->frames[top - 1].ret_p >= above)) {
    return top;
  }
  return find(c, place, above);
}

/* Rule R1 at a handler slot. */
HOT int64_t leaving_by_slot(const struct core *c, int64_t place, uint64_t above) {
  int64_t frame = topmost(c, place), below = frame - (int64_t)c->handlers;
  if (frame < 0 || c->frames[frame].way || (below >= 0 && c->frames[below].ret_p < above)) {
    frame = find(c, place, above); /* else it is the only one, or the one below is that of a caller */
  }
  return frame;
}

/* Rule R1. */
HOT int64_t leaving(const struct core *c, int64_t place, uint64_t above) {
  if (__builtin_expect(c->mode & MODE_PIECES, 0)) {
    return find(c, place, above);
  }
  return place < (int64_t)c->handlers ? leaving_by_slot(c, place, above) : leaving_by_way(c, place, above);
}

/* Rule T2: what the slot would hold without any hijack: where the function returns to, behind all tail calls. */
static uint64_t original(const struct core *c, uint64_t from) {
  for (uint64_t i = 0; i < c->handlers; i++) {
    int64_t place = place_at(c, from & c->code_mask);
    int is_slot = place >= 0 && place < (int64_t)c->handlers;
    int64_t frame = place < 0 ? NONE : is_slot ? topmost(c, place) : find(c, place, UINT64_MAX);
    if (frame < 0) {
      break;
    }
    from = c->frames[frame].from_pc;
  }
  return from;
}

/* Rule D2: the frames up to the one whose slot that is: they are the callers. 0 where there is none. */
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

/* Rules D1 to D3: how many frames a new one stands on; a longjmp left the others. */
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

/* Open frames that records show: the topmost ones may have no record of their entry. */
static uint64_t told(const struct core *c) {
  uint64_t count = c->frame_count;
  if (count > 0 && (c->frames[count - 1].special & FRAME_HIDDEN)) {
    count--;
  }
  return (c->mode & MODE_LATE) && c->written < count ? c->written : count;
}

/* Frames go without a record: the records show them as open until the next one. */
static void go_unseen(struct core *c) {
  uint64_t open = told(c);
  c->shown = open > c->shown ? open : c->shown;
}

/* A record shows the exit of a frame. */
HOT void exit_shown(struct core *c, uint64_t frame) {
  if (frame < c->frame_count) {
    c->shown = 0;
  } else if (frame < c->shown) {
    c->shown = frame;
  }
}

/* Rule G1: the frames above the lowest `keep` are taken for dead, and remembered. False, with nothing done: Java must. */
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
  go_unseen(c);
  c->frame_count = keep;
  c->any_given_up = 1;
  return 1;
}

/*
 * Rule G2: true where a frame that was given up returns through a place, and its slot lies between two addresses; or where that must
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
 * If a frame that was given up returned through a place and left the stack pointer at `exit`: its return address; else
 * `from`. Sets `unsure` where Java must be asked. Rare.
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

/* Rule G2: true where Java must say whether an open frame returns, or one that was given up. */
static __attribute__((noinline)) int is_doubtful(struct core *c, const struct frame *f, int64_t place,
                                                 uint64_t stack_pointer) {
  if (c->answered != ANSWER_NONE) {
    return 1;
  }
  if (f->up > 0) {
    return f->ret_p + f->up != stack_pointer;
  }
  uint64_t above = stack_pointer + c->slot_reach;
  return above - f->ret_p > c->word_bytes && is_given_up_between(c, (uint64_t)place, f->ret_p, above);
}

/* A slot that holds the function's return address. */
struct taken {
  const struct slot *slot;
  uint64_t address;
  uint64_t ret_p;
  uint64_t from;
  uint8_t *host;
  int64_t tail_caller; /* the open frame that gave way to the new one by a tail call; NONE */
  int tail_called;
};

/*
 * Rule T1: where a function is entered by a tail call, the word in its slot is a place of the tracer's. Of the frame that gave way
 * to the new one it becomes the handler slot, as records have it; where that had been given up, where it returned to.
 */
static __attribute__((noinline)) void tail_called(struct core *c, const struct site *site, struct taken *t) {
  int64_t place = place_at(c, t->from & c->code_mask);
  uint64_t exit = t->ret_p + site->up;
  int64_t frame = find(c, place, t->ret_p + 1);
  int open = frame >= 0 && frame < (int64_t)c->frame_count;
  if (c->any_given_up && !(open && c->frames[frame].ret_p + c->frames[frame].up == exit)) {
    uint64_t word = t->from;
    t->from = given_up_at(c, (uint64_t)place, exit, word);
    if (t->from != word) {
      t->tail_called = is_place(c, t->from & c->code_mask);
      return;
    }
  }
  t->tail_called = 1;
  t->tail_caller = open ? frame : NONE;
  if (frame >= 0 && place >= (int64_t)c->handlers) {
    t->from = handler_slot(c, (uint64_t)frame);
  }
}

HOT void look_for_tail_call(struct core *c, const struct site *site, struct taken *t) {
  if (__builtin_expect(is_place(c, t->from & c->code_mask), 0)) {
    tail_called(c, site, t);
  }
}

#endif
