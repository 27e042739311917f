/* Exits: what a hijacked return that has arrived says, and where the program continues. */
#ifndef RETSTACK_EXIT_H
#define RETSTACK_EXIT_H

#include "records.h"
#include "ret_stack.h"
#include "rules.h"

static __attribute__((noinline)) void go_on_from_home(struct core *c, uint64_t address, int64_t home, uint64_t to) {
  uint64_t start = c->homes_start + ((uint64_t)home << HOME_SHIFT);
  store(c, ANY, c->home_word ? word_at(c, ANY, start + c->home_word) : c->mailbox, (to + (address - start)) & c->word_mask);
}

/* Sends a return on to its target; a trampoline has the target in its code. */
HOT void go_on(struct core *c, const enum guest guest, uint64_t address, int64_t place, uint64_t to) {
  int64_t home = place - (int64_t)c->handlers;
  if (home < HOMES) {
    if (home < 0) {
      store(c, guest, c->mailbox, masked(c, guest, to + (address - handler_slot(c, (uint64_t)place))));
    } else {
      go_on_from_home(c, address, home, to);
    }
  }
}

/* At a place: see place_at(). */
static void leave(uc_engine *uc, struct core *c, uint64_t address, int64_t place) {
  if (c->last != &c->nowhere) { /* else it is the second exit of one return, or of more */
    c->returned = c->last->address + c->last->size;
  }
  uint64_t stack_pointer = reg_read(uc, c, ANY, (int)c->stack_pointer), above = stack_pointer + c->slot_reach;
  int64_t frame = leaving(c, place, above);
  if (__builtin_expect(!in_window(c, stack_pointer) || (uint64_t)frame >= c->frame_count ||
                           c->frames[frame].ret_p >= above ||
                           (c->any_given_up && is_doubtful(c, &c->frames[frame], place, stack_pointer)),
                       0)) {
    if (c->unsure) {
      stop_before(uc, c, address, ASK_WHICH_GIVEN_UP);
      return;
    }
    uint64_t answered = c->answered;
    c->answered = ANSWER_NONE;
    if (answered == ANSWER_GIVEN_UP) {
      c->last = &c->nowhere;
      go_on(c, ANY, address, place, c->revived);
      return;
    }
    if (answered != ANSWER_CURRENT) {
      c->stop_value = (uint64_t)place;
      c->stop_time = time_now(c);
      stop_before(uc, c, address, ASK_EXIT_TASK);
      return;
    }
  }
  if (frame < 0) { /* Java knows how to say it */
    c->stop_value = (uint64_t)place;
    stop_before(uc, c, address, ASK_BLOCK);
    return;
  }
  const struct frame *f = &c->frames[frame];
  if (__builtin_expect((uint64_t)frame + 1 < c->frame_count, 0) && !give_up(c, (uint64_t)frame + 1)) {
    c->answered = ANSWER_CURRENT;
    stop_before(uc, c, address, ASK_GIVEN_UP);
    return;
  }
  int over = 0;
  if (__builtin_expect(c->mode | (uint64_t)f->special, 0)) {
    if (!leave_by_rules(uc, c, (uint64_t)frame)) {
      stop_before(uc, c, address, STOP_BATCH_FULL);
      return;
    }
    over = (c->mode & MODE_HANDLER) && frame == 0;
  } else {
    record_exit(uc, c, (uint64_t)frame);
    exit_shown(c, (uint64_t)frame);
  }
  c->last = &c->nowhere;
  if ((uint64_t)frame < c->frame_count) {
    c->frame_count = (uint64_t)frame;
    c->watched = frame > 0 ? c->frames[frame - 1].watched : UNWATCHED;
  }
  go_on(c, ANY, address, place, f->from_pc);
  if (over) {
    c->stop_value = f->from_pc & c->code_mask;
    c->stop_time = time_now(c);
    stop_before(uc, c, address, ASK_HANDLER_LEFT);
  }
}

#endif
