/*
 * The probe in C: one block hook that is clock, stop point, entry hijack and exit restore of a core.
 *
 * It does what BlockClock and JavaProbe do, record for record, and knows no ISA: ABI cards come as plain numbers.
 * Java fills in `struct core` and takes the records out of the ring; it is asked only by stopping before a block that
 * needs it (a block or a call site seen for the first time, a full ring, a deadline). Nothing here allocates, links
 * against libunicorn or calls Java.
 *
 * All tables are open addressing with linear probing; Java keeps them at most half full.
 */
#include "entry.h"
#include "exit.h"
#include "layout.h"
#include "unwind.h"
#include "usual.h"
#include "watch.h"

/* struct uc_tb of Unicorn 2.1 */
struct tb {
  uint64_t pc;
  uint16_t icount;
  uint16_t size;
};

static inline void count(struct core *c, const struct block *b) {
  c->last = b;
  c->now += b->count;
}

/* A block of the tracer has done its work. */
static inline void pass(struct core *c) {
  if (c->stop == STOP_NONE && __builtin_expect(++c->passes > PASSES_EACH * c->now + PASSES_FREE, 0)) {
    c->now++;
  }
}

/*
 * Not in the tracer's code: whether a return passes there depends on what is traced. But where the program goes round
 * there, or the core is to end.
 */
static int may_stop_in(const struct core *c, uint32_t kind) {
  return (kind != BLOCK_HANDLER && kind != BLOCK_LANDING) || c->deadline == 0 ||
         c->passes + PASSES_EACH > PASSES_EACH * c->now + PASSES_FREE;
}

static __attribute__((noinline)) void unknown(uc_engine *uc, struct core *c, uint64_t address, uint32_t size, int may_stop) {
  struct tb tb = {0, 0, 0};
  c->ctl(uc, (int)c->request_cache, address, &tb);
  if (!may_stop || size == 0) { /* the delay slot of a jump, or no code at all: of the program for sure */
    c->unlisted.address = address;
    c->unlisted.size = (uint16_t)size;
    c->unlisted.count = tb.icount;
    c->last_end = address + size;
    count(c, &c->unlisted);
    return;
  }
  c->stop_size = size;
  c->stop_count = tb.icount;
  c->stop_value = UINT64_MAX;
  stop_before(uc, c, address, ASK_BLOCK);
}

/* Before an entry or an exit: false where the core was stopped to make it possible. */
static inline int ready(uc_engine *uc, struct core *c, uint64_t address) {
  if (c->record_count == c->record_capacity || c->regions_stale) {
    c->stop_value = 1;
    stop_before(uc, c, address, c->record_count == c->record_capacity ? STOP_BATCH_FULL : ASK_REGIONS);
    return 0;
  }
  c->known_reg[0] = FORGOTTEN;
  c->known_reg[1] = FORGOTTEN;
  return 1;
}

/* True where the core was stopped behind an entry, and continues before the same block. */
static inline int has_entered(struct core *c, uint64_t address) {
  int entered = c->entered == address;
  c->entered = UNMET;
  return entered;
}

/* False where the core was stopped. */
static __attribute__((noinline)) int enter_at(uc_engine *uc, struct core *c, uint64_t address, const struct site *site) {
  if (has_entered(c, address)) {
    return 1;
  }
  if (!ready(uc, c, address)) {
    return 0;
  }
  int asked = enter(uc, c, site);
  c->entered = asked == ASK_READER ? address : UNMET;
  if (asked != STOP_NONE) {
    stop_before(uc, c, address, asked);
  }
  return asked == STOP_NONE;
}

/* At a site without a call. What stands in front of the entry runs later, but its time has passed by then. */
static inline int enter_ahead(uc_engine *uc, struct core *c, uint64_t address, const struct site *site) {
  uint64_t ahead = site->ahead;
  c->now += ahead;
  if (__builtin_expect(c->now >= c->deadline, 0) && c->deadline_kind != DEADLINE_ROUGH && ahead > 0) {
    c->now -= c->deadline_kind == DEADLINE_EXACT ? ahead : 0;
    stop_before(uc, c, address, STOP_DEADLINE);
    return 0;
  }
  int entered = enter_at(uc, c, address, site);
  c->now -= ahead;
  return entered;
}

/* Blocks of the program that end an idle loop, and those of the tracer but the handler slots. False: all is done. */
static __attribute__((noinline)) int rare_kind(uc_engine *uc, struct core *c, const struct block *b,
                                               uint64_t address) {
  switch (b->what % KINDS) {
    case BLOCK_IDLE:
      if (c->last->address != address) {
        return 1;
      }
      stop_before(uc, c, address, STOP_IDLE_LOOP);
      return 0;
    case BLOCK_COUNTING:
      if (has_entered(c, address)) {
        c->last = &c->nowhere;
        pass(c);
      } else if (ready(uc, c, address)) {
        c->last = &c->nowhere;
        called(uc, c, b);
        pass(c);
      }
      return 0;
    case BLOCK_STOP:
      stop_before(uc, c, address, STOP_OUTERMOST_RETURN);
      return 0;
    case BLOCK_LANDING:
      if (c->last->address == address) {
        stop_before(uc, c, address, STOP_ASTRAY);
      }
      c->last = b;
      pass(c);
      return 0;
    default:
      return 1;
  }
}

/* What may be before any block. False: the core was stopped, or the block was counted before. */
static __attribute__((noinline)) int rare_state(uc_engine *uc, struct core *c, const struct block *b, uint64_t address,
                                                uint32_t size) {
  if (c->resuming) {
    c->resuming = 0;
    c->resumed(uc, address, size, c->resumed_user);
    return 0;
  }
  int may_stop = !c->stops_at_jumps || address != c->last_end;
  if (b->size == 0) {
    if (size == 0 && c->now >= c->deadline && may_stop) {
      stop_before(uc, c, address, STOP_DEADLINE);
    } else {
      unknown(uc, c, address, size, may_stop);
    }
    return 0;
  }
  if (c->left) {
    c->left = 0;
    c->now -= b->count < c->last->count ? b->count : c->last->count;
    c->split_time = c->now;
  }
  c->last_end = address + size;
  c->attention = (c->stops_at_jumps || c->registers == NULL ? ATTENTION_RARE : 0) | (c->behind ? ATTENTION_BEHIND : 0) |
                 (c->walk_count > 0 ? ATTENTION_UNWINDER : 0);
  uint32_t kind = b->what % KINDS;
  if (c->now >= c->deadline && may_stop && may_stop_in(c, kind)) {
    stop_before(uc, c, address, STOP_DEADLINE);
    return 0;
  }
  return 1;
}

static __attribute__((noinline)) void special_block(uc_engine *uc, uint64_t address, uint32_t size, struct core *c,
                                                    const struct block *b) {
  if (__builtin_expect((c->attention & ATTENTION_RARE) || c->now >= c->deadline || b->size == 0, 0) &&
      !rare_state(uc, c, b, address, size)) {
    return;
  }
  if (c->attention & ATTENTION_BEHIND) {
    const struct site *site = &c->block_sites[c->behind - 1];
    if (site->key == address && !enter_at(uc, c, address, site)) {
      return;
    }
    c->behind = 0;
    c->attention &= ~(uint64_t)ATTENTION_BEHIND;
  }
  uint32_t kind = b->what % KINDS, index = b->what >> KIND_BITS;
  int leaves = kind == BLOCK_UNWINDER || (kind == BLOCK_FUNCTION && c->block_sites[index].leaves);
  int may_be_left = is_of_program(kind) || kind == BLOCK_STOP; /* the handler of an interrupt returns to a stop */
  if ((c->walk_count > 0 || leaves) && may_be_left && meets_unwinder(uc, c, address, leaves)) {
    return;
  }
  if (c->watching && is_of_program(kind) && may_have_left(uc, c) && !watch(uc, c, address)) {
    return;
  }
  if (kind == BLOCK_HANDLER) {
    if (ready(uc, c, address)) {
      leave(uc, c, address, (int64_t)index);
      pass(c);
    }
    return;
  }
  if (kind == BLOCK_FUNCTION && c->regions_stale) {
    stop_before(uc, c, address, ASK_REGIONS);
    return;
  }
  if (kind == BLOCK_SITE || kind == BLOCK_FUNCTION) {
    const struct site *site = &c->block_sites[index];
    int enters = kind == BLOCK_SITE || is_called_by_address(uc, c, site);
    if (enters && !enter_ahead(uc, c, address, site)) {
      return;
    }
    c->behind = site->behind;
    c->attention |= site->behind ? ATTENTION_BEHIND : 0;
  } else if (kind == BLOCK_SKIP) {
    c->behind = index + 1;
    c->attention |= ATTENTION_BEHIND;
  } else if (kind != BLOCK_PROGRAM && !rare_kind(uc, c, b, address)) {
    return;
  }
  count(c, b);
}

/* A block that begins with a site, and nothing else is to be done before it. */
static __attribute__((noinline)) void site_block(uc_engine *uc, uint64_t address, uint32_t size, struct core *c,
                                                 const struct block *b) {
  const struct site *site = &c->block_sites[b->what >> KIND_BITS];
  uint64_t now = c->now + site->ahead;
  if (__builtin_expect(now < c->deadline && enter_usually(uc, c, site, now), 1)) {
    c->behind = site->behind;
    c->attention = site->behind ? ATTENTION_BEHIND : 0;
    count(c, b);
  } else {
    special_block(uc, address, size, c, b);
  }
}

/* A place where returns arrive. */
static __attribute__((noinline)) void handler_block(uc_engine *uc, uint64_t address, uint32_t size, struct core *c,
                                                    const struct block *b) {
  if (__builtin_expect(leave_usually(uc, c, address, (int64_t)(b->what >> KIND_BITS)), 1)) {
    pass(c);
  } else {
    special_block(uc, address, size, c, b);
  }
}

HOT void run_block(uc_engine *uc, uint64_t address, uint32_t size, struct core *c, const struct block *b, int watching) {
  if (__builtin_expect(c->attention || c->now >= c->deadline || (watching && is_above(c)), 0)) {
    special_block(uc, address, size, c, b);
  } else if (__builtin_expect(b->what == BLOCK_PROGRAM, 1)) {
    count(c, b);
  } else if (b->what % KINDS == BLOCK_SITE) {
    site_block(uc, address, size, c, b);
  } else if (b->what % KINDS == BLOCK_HANDLER) {
    handler_block(uc, address, size, c, b);
  } else {
    special_block(uc, address, size, c, b);
  }
}

/* A block that does not stand where the search for it begins. */
static __attribute__((noinline)) void search_block(uc_engine *uc, uint64_t address, uint32_t size, struct core *c,
                                                   uint64_t i) {
  const struct block *b;
  do {
    b = &c->blocks[++i & c->block_mask];
  } while ((b->address != address || b->size != size) && b->size != 0);
  if (b->size == 0) {
    special_block(uc, address, size, c, b);
  } else {
    run_block(uc, address, size, c, b, (int)c->watching);
  }
}

HOT void on_block(uc_engine *uc, uint64_t address, uint32_t size, struct core *c, int watching) {
  uint64_t i = bucket(address);
  const struct block *b = &c->blocks[i & c->block_mask];
  if (__builtin_expect(b->address == address && b->size == size && size != 0, 1)) {
    run_block(uc, address, size, c, b, watching);
  } else if (b->size == 0) {
    special_block(uc, address, size, c, b);
  } else {
    search_block(uc, address, size, c, i);
  }
}

/* Most blocks without a call and without saving a register. */
void retstack_on_block(uc_engine *uc, uint64_t address, uint32_t size, void *user) {
  on_block(uc, address, size, user, 0);
}

/* As retstack_on_block, and looks for returns by an overwritten slot. */
void retstack_on_block_watching(uc_engine *uc, uint64_t address, uint32_t size, void *user) {
  on_block(uc, address, size, user, 1);
}

/* For Java: in stop_value the frame that returns through the place there, below stop_fp; or NONE. */
void retstack_find_frame(struct core *c) {
  c->stop_value = (uint64_t)find(c, (int64_t)c->stop_value, c->stop_fp);
}

/* For Java, before it clears the table: what the last block was stays known. */
void retstack_keep_last_block(struct core *c) {
  if (c->last == &c->nowhere) {
    return;
  }
  c->unlisted = *c->last;
  c->last = &c->unlisted;
}

#ifdef __clang__
const char retstack_compiler[] = __VERSION__;
#else
const char retstack_compiler[] = "gcc " __VERSION__;
#endif
