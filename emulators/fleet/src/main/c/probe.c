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
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef struct uc_struct uc_engine;

enum { NONE = -1, FORGOTTEN = -2 };

/* Why the core was stopped before a block; the numbers are read by Java through `stop`. */
enum stop {
  STOP_NONE,
  STOP_DEADLINE,
  STOP_BATCH_FULL,
  STOP_OUTERMOST_RETURN,
  STOP_IDLE_LOOP,
  STOP_ASTRAY, /* the program goes round in the landing page, where no time passes */
  ASK_BLOCK,   /* classify the block at stop_address: stop_size, stop_count */
  ASK_SITE,    /* resolve the call that returns to stop_value, of the counting function in stop_count */
  ASK_FRAMES,  /* ret_stack is to grow */
  ASK_REGIONS  /* the guest's mappings have changed */
};

/* What a block is; most are of the program, which is 0. */
enum block_kind { BLOCK_PROGRAM, BLOCK_IDLE, BLOCK_COUNTING, BLOCK_HANDLER, BLOCK_SITE, BLOCK_STOP,
                  BLOCK_LANDING };

/* Where a value is: register + offset, or the word there plus addend. register NONE: nowhere, the value is 0. */
struct operand {
  int32_t reg;
  int32_t in_memory;
  int64_t offset;
  int64_t addend;
};

enum place { PLACE_MEMORY, PLACE_SAVED, PLACE_REGISTER };
enum where { WHERE_SAVED, WHERE_IN_REGISTER, WHERE_UNKNOWN };

struct slot {
  int32_t place;
  int32_t only;
  int32_t reg;
  int32_t unused;
  int64_t addend;
  struct operand address;
  struct operand frame; /* where there is one, retp is this plus the frame_bytes of the site */
};

enum { SLOTS = 4, FORETOLD = 4 };

struct card {
  struct operand return_address;
  struct operand parent;
  struct operand fp_at_entry;
  struct operand fp_at_exit;
  struct operand retp_at_exit[FORETOLD];
  struct slot slots[SLOTS];
  int32_t foretold;
  int32_t slot_count;
  int64_t slot_from_fp;
  int32_t has_slot_from_fp;
  int32_t frames_everywhere;
};

/* A block is known by address and size: the engine may translate an address more than once. */
struct block {
  uint64_t address;
  uint64_t size; /* bytes; 0: empty */
  uint16_t count; /* instructions */
  uint16_t kind;
  uint32_t index; /* of the card, of the handler slot or of the site */
  uint32_t behind; /* one more than the index of the site of a skipped call that it ends with; 0: none */
};

struct site {
  uint64_t key; /* the return address of the call */
  uint64_t used; /* 0: empty */
  uint64_t self_pc;
  int64_t saved_at;
  int64_t frame_bytes;
  int32_t card;
  int16_t where;
  int16_t keeps_frame;
};

struct frame {
  uint64_t self_pc;
  uint64_t from_pc;
  uint64_t ret_p;
  int32_t card;
  int16_t tail;
  int16_t framed;
};

struct region {
  uint64_t start;
  uint64_t size;
  uint8_t *host;
};

/* The ring of records, a column per field. */
struct columns {
  uint8_t *kind;
  int64_t *time;
  int32_t *depth;
  int64_t *self_pc;
  int64_t *from_pc;
  int64_t *ret_p;
  int64_t *fp;
};

struct core {
  int (*reg_read)(uc_engine *, int, void *);
  int (*reg_write)(uc_engine *, int, const void *);
  int (*emu_stop)(uc_engine *);
  int (*ctl)(uc_engine *, int, ...);
  void (*resumed)(uc_engine *, uint64_t, uint32_t, uint64_t); /* the block that a core started again with */
  uint64_t resumed_user;
  uint64_t request_cache; /* control word of uc_ctl_request_cache */

  uint64_t now; /* guest instructions executed, the tracer's own excluded */
  uint64_t deadline;
  uint64_t previous; /* address of the last block of the program */
  uint64_t last_end; /* one past the last block */
  uint64_t stops_at_jumps; /* 1: no stop before a block that stands right behind the last: it may be a delay slot */
  uint64_t behind; /* that of the block before */
  uint64_t last_count; /* its instructions */
  uint64_t begun; /* the site without a call that it began with */
  uint64_t left; /* 1: it was left in its middle, and all of it was counted */
  uint64_t host_origin;
  uint64_t resuming; /* 1: the next block is the rest of one that was counted */
  uint64_t host_clock; /* 1: times are nanoseconds of CLOCK_MONOTONIC since host_origin */

  uint64_t stop;
  uint64_t stop_address;
  uint64_t stop_size;
  uint64_t stop_count;
  uint64_t stop_value;

  struct block *blocks;
  uint64_t block_mask;
  struct site *sites; /* of calls, by return address */
  uint64_t site_mask;
  struct site *block_sites; /* of blocks, by index */
  struct region *regions;
  uint64_t region_count;
  struct region last_region;
  uint64_t regions_stale;

  uint64_t landing_start;
  uint64_t handlers_end;
  uint64_t landing_shift;
  uint64_t handlers; /* a power of two */
  uint8_t *mailbox;

  struct frame *frames;
  uint64_t frame_count;
  uint64_t frames_used; /* one past the highest ever pushed: frames beyond frame_count are dead, not gone */
  uint64_t frame_capacity;
  uint64_t frame_limit;

  struct columns columns;
  uint64_t record_count;
  uint64_t record_capacity;

  uint64_t overruns;
  uint64_t unhijackable;

  uint64_t word_mask;
  uint64_t code_mask;
  uint64_t word_bytes;
  uint64_t swap;
  uint64_t stack_pointer;
  uint64_t slot_reach;
  struct card *cards;

  int64_t known_reg[2]; /* the last registers read since the event began */
  uint64_t known_value[2];
};

enum record_kind { RECORD_ENTRY, RECORD_EXIT };

/* ---- registers and memory */

static inline uint64_t reg_read(uc_engine *uc, struct core *c, int reg) {
  if (c->known_reg[0] == reg) {
    return c->known_value[0];
  }
  if (c->known_reg[1] == reg) {
    return c->known_value[1];
  }
  c->known_reg[1] = c->known_reg[0];
  c->known_value[1] = c->known_value[0];
  c->known_reg[0] = reg;
  c->known_value[0] = 0;
  c->reg_read(uc, reg, &c->known_value[0]);
  return c->known_value[0];
}

static __attribute__((noinline)) uint8_t *search_word(struct core *c, uint64_t address) {
  uint64_t low = 0, high = c->region_count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (c->regions[middle].start <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) {
    return NULL;
  }
  const struct region *r = &c->regions[low - 1];
  if (address - r->start >= r->size || r->size - (address - r->start) < c->word_bytes) {
    return NULL;
  }
  c->last_region = *r;
  return r->host + (address - r->start);
}

/* The host address of a word of the guest; NULL where it is not wholly in one mapping. */
static inline uint8_t *word_at(struct core *c, uint64_t address) {
  uint64_t offset = address - c->last_region.start;
  return offset < c->last_region.size && c->last_region.size - offset >= c->word_bytes ? c->last_region.host + offset
                                                                                       : search_word(c, address);
}

static uint64_t load(const struct core *c, const uint8_t *at) {
  if (c->word_bytes == 8) {
    uint64_t v;
    memcpy(&v, at, 8);
    return c->swap ? __builtin_bswap64(v) : v;
  }
  uint32_t v;
  memcpy(&v, at, 4);
  return c->swap ? __builtin_bswap32(v) : v;
}

static void store(const struct core *c, uint8_t *at, uint64_t value) {
  if (c->word_bytes == 8) {
    uint64_t v = c->swap ? __builtin_bswap64(value) : value;
    memcpy(at, &v, 8);
  } else {
    uint32_t v = c->swap ? __builtin_bswap32((uint32_t)value) : (uint32_t)value;
    memcpy(at, &v, 4);
  }
}

/* The value of an operand; 0 and *failed where it is in memory that is not there. */
static inline uint64_t value(uc_engine *uc, struct core *c, const struct operand *o, int *failed) {
  if (o->reg == NONE) {
    return 0;
  }
  uint64_t sum = (reg_read(uc, c, o->reg) + (uint64_t)o->offset) & c->word_mask;
  if (!o->in_memory) {
    return sum;
  }
  const uint8_t *at = word_at(c, sum);
  if (at == NULL) {
    *failed = 1;
    return 0;
  }
  return (load(c, at) + (uint64_t)o->addend) & c->word_mask;
}

/* ---- ret_stack: the same decisions as RetStack */

static int64_t handler_at(const struct core *c, uint64_t address) {
  uint64_t offset = address - c->landing_start;
  return offset < c->handlers_end - c->landing_start ? (int64_t)(offset >> c->landing_shift) : NONE;
}

static int nearer(const struct core *c, int64_t frame, int64_t than, uint64_t above) {
  return c->frames[frame].ret_p < above && c->frames[frame].ret_p > c->frames[than].ret_p;
}

static int tail_called(const struct core *c, int64_t low, int64_t high) {
  for (int64_t i = low + 1; i <= high; i++) {
    if (!c->frames[i].tail) {
      return 0;
    }
  }
  return 1;
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
    if (!nearer(c, i, best, above) || tail_called(c, i, best)) {
      break;
    }
    best = i;
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

static void drop_dead_frames(struct core *c, const struct card *card, int64_t tail_caller, uint64_t ret_p,
                             uint64_t fp) {
  if (tail_caller >= 0) {
    int64_t frame = find(c, tail_caller, ret_p + 1);
    if (frame >= 0 && frame < (int64_t)c->frame_count) {
      c->frame_count = (uint64_t)frame + 1;
      return;
    }
  }
  if (!card->has_slot_from_fp || !drop_above(c, (fp + (uint64_t)card->slot_from_fp) & c->word_mask)) {
    while (c->frame_count > 0 && c->frames[c->frame_count - 1].ret_p <= ret_p) {
      c->frame_count--;
    }
  }
}

/* ---- records */

static int64_t clock_now(const struct core *c) {
  if (!c->host_clock) {
    return (int64_t)c->now;
  }
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - c->host_origin);
}

static inline void record(struct core *c, int kind, uint64_t frame, uint64_t self, uint64_t from, uint64_t slot,
                          uint64_t fp) {
  struct columns to = c->columns;
  uint64_t i = c->record_count++;
  int64_t now = clock_now(c);
  to.kind[i] = (uint8_t)kind;
  to.time[i] = now;
  to.depth[i] = (int32_t)frame;
  to.self_pc[i] = (int64_t)self;
  to.from_pc[i] = (int64_t)from;
  to.ret_p[i] = (int64_t)slot;
  to.fp[i] = (int64_t)fp;
}

static void stop_before(uc_engine *uc, struct core *c, uint64_t address, int reason) {
  c->stop = (uint64_t)reason;
  c->stop_address = address;
  c->emu_stop(uc);
}

/* ---- entry */

/* A slot that holds the function's return address. */
struct taken {
  const struct slot *slot;
  uint64_t address;
  uint64_t ret_p;
  uint64_t from;
  uint8_t *host;
};

static int holds_return_address(uc_engine *uc, struct core *c, const struct card *card, const struct site *site,
                                const struct slot *slot, struct taken *t, int *failed) {
  t->slot = slot;
  t->address = value(uc, c, &slot->address, failed);
  if (slot->place == PLACE_SAVED) {
    t->address = (t->address + (uint64_t)site->saved_at) & c->word_mask;
  }
  t->ret_p = t->address;
  if (slot->frame.reg != NONE) {
    t->ret_p = (value(uc, c, &slot->frame, failed) + (uint64_t)site->frame_bytes) & c->word_mask;
  }
  if (*failed) {
    return 0;
  }
  if (slot->place == PLACE_REGISTER) {
    t->from = (reg_read(uc, c, slot->reg) - (uint64_t)slot->addend) & c->word_mask;
    return 1;
  }
  if (t->address == 0) {
    return 0;
  }
  t->host = word_at(c, t->address);
  if (t->host == NULL) {
    *failed = 1;
    return 0;
  }
  t->from = load(c, t->host);
  return card->parent.reg == NONE || (value(uc, c, &card->parent, failed) == t->from && !*failed);
}

/* Returns 0 where Java must make room on ret_stack first; then nothing was done. */
static int enter(uc_engine *uc, struct core *c, const struct site *site) {
  const struct card *card = &c->cards[site->card];
  struct taken t = {NULL, 0, 0, 0, NULL};
  int failed = 0, found = 0;
  for (int i = 0; i < card->slot_count && !found && !failed; i++) {
    const struct slot *slot = &card->slots[i];
    if (slot->only == WHERE_UNKNOWN || slot->only == site->where) {
      found = holds_return_address(uc, c, card, site, slot, &t, &failed);
    }
  }
  uint64_t fp = found && !failed ? value(uc, c, &card->fp_at_entry, &failed) : 0;
  if (!found || failed) {
    c->unhijackable++;
    return 1;
  }
  if (c->frame_count == c->frame_capacity && c->frame_capacity < c->frame_limit) {
    return 0;
  }
  int64_t tail_caller = handler_at(c, t.from & c->code_mask);
  drop_dead_frames(c, card, tail_caller, t.ret_p, fp);
  if (c->frame_count == c->frame_limit) {
    c->overruns++;
    return 1;
  }
  uint64_t index = c->frame_count++;
  struct frame *f = &c->frames[index];
  f->self_pc = site->self_pc;
  f->from_pc = t.from;
  f->ret_p = t.ret_p;
  f->card = site->card;
  f->tail = tail_caller >= 0;
  f->framed = (int16_t)(card->frames_everywhere || site->keeps_frame);
  if (c->frames_used < c->frame_count) {
    c->frames_used = c->frame_count;
  }
  uint64_t handler = c->landing_start + ((index & (c->handlers - 1)) << c->landing_shift);
  if (t.slot->place == PLACE_REGISTER) {
    uint64_t hijacked = (handler + (uint64_t)t.slot->addend) & c->word_mask;
    c->reg_write(uc, t.slot->reg, &hijacked);
  } else {
    store(c, t.host, handler);
  }
  record(c, RECORD_ENTRY, index, site->self_pc, t.from & c->code_mask, t.ret_p, fp);
  return 1;
}

static uint64_t hash(uint64_t address) {
  return (address * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

static __attribute__((noinline)) void called(uc_engine *uc, struct core *c, const struct block *b) {
  int failed = 0;
  uint64_t back = value(uc, c, &c->cards[b->index].return_address, &failed) & c->code_mask;
  if (failed) {
    c->unhijackable++;
    return;
  }
  uint64_t i = hash(back) & c->site_mask;
  while (c->sites[i].used && c->sites[i].key != back) {
    i = (i + 1) & c->site_mask;
  }
  if (!c->sites[i].used) {
    c->stop_value = back;
    stop_before(uc, c, b->address, ASK_SITE);
  } else if (!enter(uc, c, &c->sites[i])) {
    stop_before(uc, c, b->address, ASK_FRAMES);
  }
}

/* ---- exit */

static void leave(uc_engine *uc, struct core *c, uint64_t address, int64_t handler) {
  int64_t frame = topmost(c, handler);
  if (frame < 0 || frame >= (int64_t)c->handlers) { /* else it is the only one */
    frame = find(c, handler, reg_read(uc, c, (int)c->stack_pointer) + c->slot_reach);
  }
  if (frame < 0) { /* Java knows how to say it */
    c->stop_value = (uint64_t)handler;
    stop_before(uc, c, address, ASK_BLOCK);
    return;
  }
  const struct frame *f = &c->frames[frame];
  const struct card *card = &c->cards[f->card];
  int failed = 0;
  uint64_t slot = f->ret_p;
  for (int i = 0; i < card->foretold; i++) {
    uint64_t v = value(uc, c, &card->retp_at_exit[i], &failed);
    if (v == f->ret_p) {
      slot = v;
      break;
    }
    if (i == 0) {
      slot = v;
    }
  }
  uint64_t fp = value(uc, c, &card->fp_at_exit, &failed);
  record(c, RECORD_EXIT, (uint64_t)frame, f->self_pc, f->from_pc & c->code_mask, slot, fp);
  if ((uint64_t)frame < c->frame_count) {
    c->frame_count = (uint64_t)frame;
  }
  uint64_t handler_start = c->landing_start + ((uint64_t)handler << c->landing_shift);
  store(c, c->mailbox, (f->from_pc + (address - handler_start)) & c->word_mask);
}

/* ---- the block hook */

/* struct uc_tb of Unicorn 2.1 */
struct tb {
  uint64_t pc;
  uint16_t icount;
  uint16_t size;
};

static __attribute__((noinline)) void unknown(uc_engine *uc, struct core *c, uint64_t address, uint32_t size, int may_stop) {
  struct tb tb = {0, 0, 0};
  c->ctl(uc, (int)c->request_cache, address, &tb);
  if (!may_stop || size == 0) { /* the delay slot of a jump, or no code at all: of the program for sure */
    c->begun = UINT64_MAX;
    c->previous = address;
    c->last_count = tb.icount;
    c->last_end = address + size;
    c->now += tb.icount;
    return;
  }
  c->stop_size = size;
  c->stop_count = tb.icount;
  c->stop_value = UINT64_MAX;
  stop_before(uc, c, address, ASK_BLOCK);
}

static const struct block *block_at(const struct core *c, uint64_t address, uint32_t size) {
  uint64_t i = hash(address) & c->block_mask;
  while (c->blocks[i].size != 0 && (c->blocks[i].address != address || c->blocks[i].size != size)) {
    i = (i + 1) & c->block_mask;
  }
  return &c->blocks[i];
}

/* Before an entry or an exit: false where the core was stopped to make it possible. */
static int ready(uc_engine *uc, struct core *c, uint64_t address) {
  if (c->record_count == c->record_capacity) {
    stop_before(uc, c, address, STOP_BATCH_FULL);
    return 0;
  }
  if (c->regions_stale) {
    stop_before(uc, c, address, ASK_REGIONS);
    return 0;
  }
  c->known_reg[0] = FORGOTTEN;
  c->known_reg[1] = FORGOTTEN;
  return 1;
}

/* False where the core was stopped. */
static int enter_at(uc_engine *uc, struct core *c, uint64_t address, uint32_t site) {
  if (!ready(uc, c, address)) {
    return 0;
  }
  if (!enter(uc, c, &c->block_sites[site])) {
    stop_before(uc, c, address, ASK_FRAMES);
    return 0;
  }
  return 1;
}

static inline void count(struct core *c, const struct block *b, uint64_t begun) {
  c->begun = begun;
  c->previous = b->address;
  c->last_count = b->count;
  c->behind = b->behind;
  c->now += b->count;
}

static __attribute__((noinline, flatten)) void any_block(uc_engine *uc, struct core *c, const struct block *b,
                                                uint64_t address, uint32_t size) {
  if (c->resuming) {
    c->resuming = 0;
    c->resumed(uc, address, size, c->resumed_user);
    return;
  }
  if (b->address != address || b->size != size) {
    b = block_at(c, address, size);
  }
  int may_stop = !c->stops_at_jumps || address != c->last_end;
  if (b->size == 0 && size == 0 && c->now >= c->deadline && may_stop) {
    stop_before(uc, c, address, STOP_DEADLINE);
    return;
  }
  if (b->size == 0) {
    unknown(uc, c, address, size, may_stop);
    return;
  }
  if (c->left) {
    c->left = 0;
    c->now -= b->count < c->last_count ? b->count : c->last_count;
  }
  c->last_end = address + size;
  if (c->now >= c->deadline && may_stop) {
    stop_before(uc, c, address, STOP_DEADLINE);
    return;
  }
  if (c->behind) {
    if (c->block_sites[c->behind - 1].key == address && !enter_at(uc, c, address, (uint32_t)c->behind - 1)) {
      return;
    }
    c->behind = 0;
  }
  if (b->kind == BLOCK_PROGRAM) {
    count(c, b, UINT64_MAX);
    return;
  }
  if (b->kind == BLOCK_HANDLER) {
    if (ready(uc, c, address)) {
      c->previous = UINT64_MAX;
      leave(uc, c, address, (int64_t)b->index);
    }
    return;
  }
  uint64_t begun = UINT64_MAX;
  switch (b->kind) {
    case BLOCK_IDLE:
      if (c->previous == address) {
        stop_before(uc, c, address, STOP_IDLE_LOOP);
        return;
      }
      break;
    case BLOCK_COUNTING:
      if (ready(uc, c, address)) {
        c->previous = UINT64_MAX;
        called(uc, c, b);
      }
      return;
    case BLOCK_SITE:
      if (!enter_at(uc, c, address, b->index)) {
        return;
      }
      begun = c->block_sites[b->index].self_pc;
      break;
    case BLOCK_STOP:
      stop_before(uc, c, address, STOP_OUTERMOST_RETURN);
      return;
    case BLOCK_LANDING:
      if (c->previous == address) {
        stop_before(uc, c, address, STOP_ASTRAY);
      }
      c->previous = address;
      return;
    default:
      break;
  }
  count(c, b, begun);
}

/* What most blocks are, code of the program and nothing else to do, without a call and without saving a register. */
void retstack_on_block(uc_engine *uc, uint64_t address, uint32_t size, void *user) {
  struct core *c = user;
  const struct block *b = &c->blocks[hash(address) & c->block_mask];
  uint64_t special = (b->address ^ address) | (b->size ^ size) | b->kind | c->resuming | c->left | c->behind |
                     c->stops_at_jumps;
  if (__builtin_expect(special == 0 && c->now < c->deadline, 1)) {
    count(c, b, UINT64_MAX);
    return;
  }
  any_block(uc, c, b, address, size);
}

#ifdef __clang__
const char retstack_compiler[] = __VERSION__;
#else
const char retstack_compiler[] = "gcc " __VERSION__;
#endif

/* ---- the layout, for Java: names and offsets of what it fills in, and the numbers it must know */

#define FIELD(type, name) {#type "." #name, offsetof(struct type, name)}
#define SIZE(type) {#type, sizeof(struct type)}
#define CONSTANT(name) {#name, name}

const struct {
  const char *name;
  uint64_t offset;
} retstack_layout[] = {
    SIZE(core), FIELD(core, reg_read), FIELD(core, reg_write), FIELD(core, emu_stop), FIELD(core, ctl),
    FIELD(core, resumed), FIELD(core, resumed_user), FIELD(core, request_cache), FIELD(core, now), FIELD(core, deadline), FIELD(core, previous), FIELD(core, stops_at_jumps), FIELD(core, begun), FIELD(core, behind), FIELD(core, left),
    FIELD(core, host_origin), FIELD(core, host_clock), FIELD(core, resuming), FIELD(core, stop), FIELD(core, stop_address),
    FIELD(core, stop_size), FIELD(core, stop_count), FIELD(core, stop_value), FIELD(core, blocks),
    FIELD(core, block_mask), FIELD(core, sites), FIELD(core, site_mask), FIELD(core, block_sites),
    FIELD(core, regions), FIELD(core, region_count), FIELD(core, last_region.size), FIELD(core, regions_stale), FIELD(core, landing_start),
    FIELD(core, handlers_end), FIELD(core, landing_shift), FIELD(core, handlers), FIELD(core, mailbox),
    FIELD(core, frames), FIELD(core, frame_count), FIELD(core, frames_used), FIELD(core, frame_capacity),
    FIELD(core, frame_limit), FIELD(core, columns.kind), FIELD(core, columns.time), FIELD(core, columns.depth), FIELD(core, columns.self_pc),
    FIELD(core, columns.from_pc), FIELD(core, columns.ret_p), FIELD(core, columns.fp), FIELD(core, record_count),
    FIELD(core, record_capacity), FIELD(core, overruns), FIELD(core, unhijackable), FIELD(core, word_mask),
    FIELD(core, code_mask), FIELD(core, word_bytes), FIELD(core, swap), FIELD(core, stack_pointer),
    FIELD(core, slot_reach), FIELD(core, cards),
    SIZE(operand), FIELD(operand, reg), FIELD(operand, in_memory), FIELD(operand, offset), FIELD(operand, addend),
    SIZE(slot), FIELD(slot, place), FIELD(slot, only), FIELD(slot, reg), FIELD(slot, addend), FIELD(slot, address), FIELD(slot, frame),
    SIZE(card), FIELD(card, return_address), FIELD(card, parent), FIELD(card, fp_at_entry), FIELD(card, fp_at_exit),
    FIELD(card, retp_at_exit), FIELD(card, slots), FIELD(card, foretold), FIELD(card, slot_count),
    FIELD(card, slot_from_fp), FIELD(card, has_slot_from_fp), FIELD(card, frames_everywhere),
    SIZE(block), FIELD(block, address), FIELD(block, size), FIELD(block, count), FIELD(block, kind),
    FIELD(block, index), FIELD(block, behind),
    SIZE(site), FIELD(site, key), FIELD(site, used), FIELD(site, self_pc), FIELD(site, saved_at), FIELD(site, frame_bytes), FIELD(site, card),
    FIELD(site, where), FIELD(site, keeps_frame),
    SIZE(frame),
    SIZE(region), FIELD(region, start), FIELD(region, size), FIELD(region, host),
    CONSTANT(STOP_NONE), CONSTANT(STOP_DEADLINE), CONSTANT(STOP_BATCH_FULL), CONSTANT(STOP_OUTERMOST_RETURN),
    CONSTANT(STOP_IDLE_LOOP), CONSTANT(STOP_ASTRAY), CONSTANT(ASK_BLOCK), CONSTANT(ASK_SITE), CONSTANT(ASK_FRAMES), CONSTANT(ASK_REGIONS),
    CONSTANT(BLOCK_PROGRAM), CONSTANT(BLOCK_IDLE), CONSTANT(BLOCK_COUNTING), CONSTANT(BLOCK_HANDLER),
    CONSTANT(BLOCK_SITE), CONSTANT(BLOCK_STOP), CONSTANT(BLOCK_LANDING),
    CONSTANT(PLACE_MEMORY), CONSTANT(PLACE_SAVED), CONSTANT(PLACE_REGISTER),
    CONSTANT(WHERE_SAVED), CONSTANT(WHERE_IN_REGISTER), CONSTANT(WHERE_UNKNOWN),
    {NULL, 0}};
