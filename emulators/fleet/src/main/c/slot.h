/* The slot that holds the return address of a function, and its hijack. */
#ifndef RETSTACK_SLOT_H
#define RETSTACK_SLOT_H

#include "records.h"
#include "ret_stack.h"

/* A stack pointer as it is compared, at each block, with that of the engine. */
HOT uint64_t watch_of(const struct core *c, const enum guest guest, uint64_t sp) {
  return guest == USUAL || c->watch_shift == 0 ? sp : sp << 32 | UINT32_MAX;
}

HOT int holds_return_address(uc_engine *uc, struct core *c, const enum guest guest, const struct card *card,
                             const struct site *site, const struct slot *slot, struct taken *t, int *failed) {
  t->slot = slot;
  t->address = value(uc, c, guest, &slot->address, failed);
  if (slot->place == PLACE_SAVED) {
    t->address = masked(c, guest, t->address + (uint64_t)site->saved_at);
  }
  t->ret_p = t->address;
  if (slot->frame.reg != NONE) {
    t->ret_p = masked(c, guest, value(uc, c, guest, &slot->frame, failed) + (uint64_t)site->frame_bytes);
  }
  if (*failed) {
    return 0;
  }
  if (slot->place == PLACE_REGISTER) {
    t->from = masked(c, guest, reg_read(uc, c, guest, slot->reg) - (uint64_t)slot->addend);
    return 1;
  }
  if (t->address == 0) {
    return 0;
  }
  t->host = word_at(c, guest, t->address);
  if (t->host == NULL) {
    *failed = 1;
    return 0;
  }
  t->from = load(c, guest, t->host);
  return card->parent.reg == NONE || (value(uc, c, guest, &card->parent, failed) == t->from && !*failed);
}

/* False where none holds it. */
HOT int take_slot(uc_engine *uc, struct core *c, const enum guest guest, const struct card *card,
                  const struct site *site, struct taken *t, uint64_t *fp) {
  int failed = 0, found = 0;
  for (int i = 0; i < card->slot_count && !found && !failed; i++) {
    const struct slot *slot = &card->slots[i];
    if (slot->only == WHERE_UNKNOWN || slot->only == site->where) {
      found = holds_return_address(uc, c, guest, card, site, slot, t, &failed);
    }
  }
  *fp = found && !failed ? value(uc, c, guest, &card->fp_at_entry, &failed) : 0;
  return found && !failed;
}

/*
 * True where the function at a block is called from a file whose calls by address count, or in place of an instrumented function
 * that jumped to it.
 */
static __attribute__((noinline)) int is_called_by_address(uc_engine *uc, struct core *c, const struct site *site) {
  struct taken t = {NULL, 0, 0, 0, NULL, NONE, 0};
  uint64_t fp;
  c->known_reg[0] = FORGOTTEN;
  c->known_reg[1] = FORGOTTEN;
  if (!take_slot(uc, c, ANY, &c->cards[site->card], site, &t, &fp)) {
    return 0; /* no entry */
  }
  uint64_t from = t.from & c->code_mask;
  if (is_place(c, from)) {
    return c->frame_count > 0 && c->frames[c->frame_count - 1].card != site->card;
  }
  for (uint64_t i = 0; i < c->caller_count; i++) {
    if (from - c->callers[2 * i] < c->callers[2 * i + 1]) {
      return 1;
    }
  }
  return 0;
}

/* The only place where the trampoline to an address may be. */
HOT struct trampoline *trampoline_of(const struct core *c, uint64_t from) {
  return &c->trampolines[(from * UINT64_C(0x9e3779b97f4a7c15)) >> TRAMPOLINE_SHIFT];
}

/* False where Java must be asked for the trampoline to where the function returns. Else its number, 0 for none. */
HOT int has_trampoline(struct core *c, uint64_t from, uint16_t *number) {
  if (c->trampolines == NULL) {
    return 1;
  }
  struct trampoline *t = trampoline_of(c, from);
  if (t->target == from) {
    *number = t->number;
    return 1;
  }
  if (t->misses_left > 0) {
    t->misses_left--;
    return 1;
  }
  c->stop_value = from;
  return 0;
}

/*
 * The slot of an entry lies outside of the current window. ASK_ENTRY_TASK, or STOP_NONE where Java said already that it
 * is to be left alone.
 */
static __attribute__((noinline)) int outside(struct core *c, uint64_t ret_p, uint64_t fp) {
  if (c->answered == ANSWER_REFUSED) {
    c->answered = ANSWER_NONE;
    c->overruns++;
    return STOP_NONE;
  }
  c->stop_value = ret_p;
  c->stop_fp = fp;
  c->stop_self = 0;
  c->stop_time = time_now(c);
  return ASK_ENTRY_TASK;
}

/* The number of the home of where a function returns; 0 where there can be none; NONE where Java must be asked for it. */
static __attribute__((noinline)) int home_of(struct core *c, uint64_t from, int64_t tail_caller) {
  uint64_t target = tail_caller < 0 ? from : c->frames[first_of_chain(c, (uint64_t)tail_caller)].from_pc;
  uint64_t i = bucket(target) & c->home_mask;
  for (; c->homes != NULL && c->homes[i].number != 0; i = (i + 1) & c->home_mask) {
    if (c->homes[i].target == target) {
      return c->homes[i].number;
    }
  }
  c->stop_value = target;
  return c->homes_full ? 0 : NONE;
}

HOT int ret_stack_is_small(const struct core *c) {
  return c->frame_count == c->frame_capacity && c->frame_capacity < c->frame_limit;
}

/* The new frame's index; the function will return to its handler slot. */
HOT uint64_t hijack(uc_engine *uc, struct core *c, const enum guest guest, const struct site *site,
                    const struct taken *t, uint64_t fp, int special, uint16_t way) {
  uint64_t index = c->frame_count++;
  struct frame *f = &c->frames[index];
  f->self_pc = site->self_pc;
  f->from_pc = t->from;
  f->ret_p = t->ret_p;
  f->fp = fp;
  f->watched = t->slot->place == PLACE_REGISTER ? UNWATCHED : watch_of(c, guest, t->address - c->slot_reach);
  c->watched = f->watched;
  f->up = site->up;
  f->card = site->card;
  f->way = way;
  f->special = (int16_t)special;
  f->tail = (int8_t)t->tail_called;
  f->framed = site->keeps_frame;
  if (c->frames_used < c->frame_count) {
    c->frames_used = c->frame_count;
  }
  if (__builtin_expect(t->tail_caller >= 0, 0)) {
    c->frames[t->tail_caller].way = 0; /* where the new one's return leads */
  }
  uint64_t handler = handler_slot(c, index);
  if (__builtin_expect(way > HOMES, 1)) {
    handler = c->trampoline_start + ((uint64_t)(way - 1 - HOMES) << c->trampoline_shift);
  } else if (way > 0) {
    handler = c->homes_start + ((uint64_t)(way - 1) << HOME_SHIFT);
  }
  if (t->slot->place == PLACE_REGISTER) {
    reg_write(uc, c, guest, t->slot->reg, masked(c, guest, handler + (uint64_t)t->slot->addend));
  } else {
    store(c, guest, t->host, handler);
  }
  return index;
}

#endif
