/* The ring of records. */
#ifndef RETSTACK_RECORDS_H
#define RETSTACK_RECORDS_H

#include <time.h>

#include "guest.h"

enum record_kind { RECORD_ENTRY, RECORD_EXIT, RECORD_FUNCTION = 4, RECORD_VALUES };

static __attribute__((noinline)) int64_t host_now(const struct core *c) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - c->host_origin);
}

HOT int64_t time_now(const struct core *c) {
  return __builtin_expect(c->host_clock != 0, 0) ? host_now(c) : (int64_t)c->now;
}

HOT void record_at(struct core *c, int64_t time, int kind, uint64_t frame, uint64_t self, uint64_t from, uint64_t slot,
                   uint64_t fp) {
  struct ring *to = c->ring;
  uint64_t i = c->record_count++;
  to->time[i] = time;
  to->self_pc[i] = (int64_t)self;
  to->from_pc[i] = (int64_t)from;
  to->ret_p[i] = (int64_t)slot;
  to->fp[i] = (int64_t)fp;
  to->depth[i] = (int32_t)frame;
  to->kind[i] = (uint8_t)kind;
}

HOT void record(struct core *c, int kind, uint64_t frame, uint64_t self, uint64_t from, uint64_t slot, uint64_t fp) {
  record_at(c, time_now(c), kind, frame, self, from, slot, fp);
}

/* The depth of a record of values: which they are, how many there are from the first on, how to show them. */
static inline uint64_t values_depth(uint32_t first, uint32_t left, uint32_t format) {
  return first | (left < VALUES_EACH ? left : VALUES_EACH) << 8 | format << 11;
}

/* Bytes that the return popped beyond its address, as its code says; 0 where it does not. */
static __attribute__((noinline)) uint64_t popped(struct core *c, const struct card *card) {
  const uint8_t *code = word_at(c, ANY, c->returned - sizeof(uint32_t));
  if (code == NULL) {
    return 0;
  }
  int32_t opcode = card->popping_return > UINT8_MAX ? code[0] << 8 | code[1] : code[1];
  return opcode != card->popping_return ? 0 : c->swap ? code[2] << 8 | code[3] : code[3] << 8 | code[2];
}

/* retp of an exit: as the card predicts it; that of the entry where it is among the predictions. */
static inline uint64_t foretold(uc_engine *uc, struct core *c, const struct card *card, uint64_t at_entry) {
  uint64_t first = at_entry;
  for (int i = 0; i < card->foretold; i++) {
    int failed = 0;
    uint64_t slot = value(uc, c, ANY, &card->retp_at_exit[i], &failed);
    if (slot == at_entry) {
      return at_entry;
    }
    first = i == 0 ? slot : first;
  }
  if (card->popping_return && first - popped(c, card) == at_entry) {
    return at_entry;
  }
  return first;
}

/* fp and retp as the registers have them now. */
static inline void record_exit(uc_engine *uc, struct core *c, uint64_t frame) {
  const struct frame *f = &c->frames[frame];
  const struct card *card = &c->cards[f->card];
  int failed = 0;
  uint64_t slot = foretold(uc, c, card, f->ret_p);
  uint64_t fp = value(uc, c, ANY, &card->fp_at_exit, &failed);
  record(c, RECORD_EXIT, frame, f->self_pc, f->from_pc & c->code_mask, slot, fp);
}

#endif
