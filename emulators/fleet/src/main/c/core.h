/* What the parts of the probe share, and Java fills in: structures and reasons to stop. */
#ifndef RETSTACK_CORE_H
#define RETSTACK_CORE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct uc_struct uc_engine;

enum { NONE = -1, FORGOTTEN = -2 };

/* Of the hot path, which must stay one piece of code though a rare one has the same steps. */
#define HOT static inline __attribute__((always_inline))

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
  ASK_REGIONS, /* the guest's mappings have changed */
  ASK_TRIGGER, /* the function at stop_value is entered, and something is to be done */
  ASK_TRAMPOLINE, /* make a trampoline to stop_value, or say that there is none */
  ASK_HOME,       /* make a home for stop_value, or say that there is no room */
  ASK_SMASHED, /* a frame below the block seems to have returned by an overwritten slot: stop_value, after block stop_count */
  ASK_ENTRY_TASK, /* whose ret_stack an entry is of: its slot is stop_value, the caller's frame pointer stop_fp */
  ASK_EXIT_TASK, /* the same of an exit, at the handler slot or trampoline in stop_value */
  ASK_UNWINDER, /* an unwinder or a longjmp is called, or the frame of one has been left */
  ASK_GIVEN_UP, /* all frames from stop_value on are given up, and there is no room to note them */
  ASK_WHICH_GIVEN_UP, /* show all frames that were given up */
  ASK_READER, /* a function has been entered that reads return addresses: the slot is at stop_value; 0: in a register */
  ASK_HANDLER_LEFT /* a function that handles interrupts has returned to stop_value, and all is done */
};

/* Whether an entry ahead of its time waits at a deadline: no; yes; yes, and its time has passed when the core ends. */
enum deadline_kind { DEADLINE_ROUGH, DEADLINE_EXACT, DEADLINE_END };

/*
 * What a block is; most are of the program, which is 0. BLOCK_SKIP ends with a skipped call. With BLOCK_FUNCTION a function
 * begins that is entered where it is called by its address.
 */
enum block_kind { BLOCK_PROGRAM, BLOCK_IDLE, BLOCK_COUNTING, BLOCK_HANDLER, BLOCK_SITE, BLOCK_SKIP, BLOCK_STOP,
                  BLOCK_LANDING, BLOCK_UNWINDER, BLOCK_FUNCTION };
enum { KIND_BITS = 4, KINDS = 1 << KIND_BITS };

/* What becomes of entries, where it is not a hijack and a record each: see rules.h. */
enum mode {
  MODE_PAUSED = 1,   /* nothing */
  MODE_FUNCTION = 2, /* a record without a hijack */
  MODE_GRAPH = 4,    /* what it ever was, below the functions that were asked for */
  MODE_HIDDEN = 8,   /* nothing, while a frame without records is open */
  MODE_LATE = 16,    /* records are written when a call has lasted long enough */
  MODE_DEPTH = 32,   /* nothing, from max_depth on */
  MODE_TASKS = 64,   /* nothing, in tasks that are not meant */
  MODE_DECLARED = 128, /* what it ever was; Java is asked where task_variable is not task_value */
  MODE_HANDLER = 256, /* what it ever was; the interrupt is over with the lowest frame */
  MODE_PIECES = 512 /* what it ever was; a stack is of pieces that lie anywhere: slots are in no order */
};

/* What a site is for, beside being recorded. */
enum special {
  SPECIAL_MUTE = 1,   /* it is not recorded */
  SPECIAL_GRAPH = 2,  /* its function opens the graph under MODE_GRAPH */
  SPECIAL_HIDE = 4,   /* its function and all below leave no records */
  SPECIAL_TRIGGER = 8, /* Java is asked first */
  SPECIAL_RETURN = 16, /* the exit is followed by the value returned */
  SPECIAL_ARGUMENTS = 32, /* the entry is followed by arguments */
  SPECIAL_TASK = 64, /* Java is asked whose it is, and does something about tasks */
  SPECIAL_PASSED = 128, /* its function was entered at its first instruction */
  SPECIAL_READS = 256 /* its function reads return addresses */
};

/* What a frame is for, beside its exit. */
enum frame_special { FRAME_HIDDEN = 1, FRAME_RETURN = 2, FRAME_FORMAT_SHIFT = 2 };

/*
 * The tracer's code takes no time, and the program comes by a few times per instruction at most. One that comes by more
 * often goes round there: then each pass takes some time, or no limit would hold.
 */
enum { PASSES_EACH = 4, PASSES_FREE = 1 << 16 };

#define UNWATCHED UINT64_MAX
#define UNMET UINT64_MAX
/*
 * That the current context is right where its window does not show it; that an entry is to be left alone; that an exit is
 * of a frame that was given up.
 */
enum answer { ANSWER_NONE, ANSWER_CURRENT, ANSWER_REFUSED, ANSWER_GIVEN_UP };

enum attention { ATTENTION_BEHIND = 1, ATTENTION_RARE = 2, ATTENTION_UNWINDER = 4 };

/* Where a value is: register + offset, or the word there plus addend. register NONE: nowhere, the value is 0. */
struct operand {
  int32_t reg;
  int32_t in_memory;
  int64_t offset;
  int64_t addend;
};

enum place { PLACE_MEMORY, PLACE_SAVED, PLACE_REGISTER };
enum where { WHERE_SAVED, WHERE_IN_REGISTER, WHERE_UNKNOWN, WHERE_UNREAD };

struct slot {
  int32_t place;
  int32_t only;
  int32_t reg;
  int32_t unused;
  int64_t addend;
  struct operand address;
  struct operand frame; /* where there is one, retp is this plus the frame_bytes of the site */
};

enum { LEFT_ALONE = 16 };
enum { SLOTS = 4, FORETOLD = 4, ARGUMENTS = 8, VALUES_EACH = 4 };

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
  int32_t popping_return; /* its opcode, of one byte or two, before two bytes that say how many it pops; 0: there is none */
  int32_t unused;
};

/* Of the functions of a card, apart, since cards are of the hot path. */
struct arguments {
  struct operand at[ARGUMENTS];
};

/*
 * A block is known by address and size: the engine may translate an address more than once. Every block that runs is
 * looked up here, so it is small, and those of neighbouring code are neighbours.
 */
struct block {
  uint64_t address;
  uint16_t size; /* bytes; 0: empty */
  uint16_t count; /* instructions */
  uint32_t what; /* kind, and above KIND_BITS the index of the card, of the handler slot or of the site */
};

struct site {
  uint64_t key; /* the return address of the call */
  uint64_t self_pc;
  int64_t saved_at;
  int64_t frame_bytes;
  uint64_t up; /* from retp to the stack pointer at exit, where the card does not predict it; 0: not known */
  uint32_t behind; /* as in struct core, for a block that begins with this site */
  uint16_t used; /* 0: empty */
  uint16_t special; /* SPECIAL_.. */
  uint8_t ahead; /* instructions of the block up to and with a call that was switched off */
  int16_t card;
  uint8_t argument_format; /* for who shows them */
  uint8_t return_format;
  int8_t where;
  int8_t keeps_frame;
  uint8_t leaves; /* 1: an unwinder or a longjmp begins there */
  uint8_t first_argument; /* with SPECIAL_ARGUMENTS: the first and one past the last to record */
  uint8_t end_argument;
};

/* One line of the cache. */
struct frame {
  uint64_t self_pc;
  uint64_t from_pc;
  uint64_t ret_p;
  uint64_t fp;   /* at entry */
  int64_t time; /* of the entry */
  uint64_t watched; /* watch_of() the stack pointer above which the frame may have been left; UNWATCHED: the slot is a register */
  uint64_t up; /* as in struct site */
  int16_t card;
  uint16_t way; /* one more than the index of the home or trampoline it returns at; 0: at its handler slot */
  int16_t special; /* FRAME_.., and above FRAME_FORMAT_SHIFT the format of the value returned */
  int8_t tail;
  int8_t framed;
};

/*
 * Frames that were taken for dead may still return: a stack may lie inside of a frame of another. Java keeps them all.
 * Here are those that Java does not know yet, and of the others what decides whether a return may mean one of them.
 */
struct given_up {
  uint64_t ret_p;
  uint64_t from_pc;
  uint64_t up; /* as in struct site */
  uint64_t place; /* handler slot, or from their number on home or trampoline, by which it returns */
};

enum { FRESH = 16 };

/* One of the return addresses that have a trampoline each: few, so that they stay in the processor's cache. */
struct trampoline {
  uint64_t target;
  uint32_t misses_left; /* other addresses that fall here until one of them gets the place */
  uint16_t number; /* one more than HOMES and its index; 0: there can be none */
  uint16_t given; /* how often the place was */
};

enum { TRAMPOLINES = 64, TRAMPOLINE_SHIFT = 58 };

/*
 * A place of one return address alone, through the mailbox: while frames are kept that were taken for dead, no other frame
 * returns through a handler slot. So the word in a slot says where it leads, also in a copy, and whatever was forgotten.
 */
struct home {
  uint64_t target;
  uint16_t number; /* one more than its index; 0: empty */
};

enum { HOMES = 1 << 11, HOME_SHIFT = 5 };

struct region {
  uint64_t start;
  uint64_t size;
  uint8_t *host;
};

/* Host memory of the guest; where it was reserved, a byte for each page, 0 where nothing is mapped. Else NULL. */
struct host_range {
  struct region all;
  const uint8_t *pages;
};

/* Records until Java takes them: few enough for the cache of the processor to hold. */
enum { RING = 1024, APART = 64 };

/* A column per field; APART, so that they do not fall on the same lines of the cache. */
struct ring {
  int64_t time[RING];
  uint8_t apart1[APART];
  int64_t self_pc[RING];
  uint8_t apart2[APART];
  int64_t from_pc[RING];
  uint8_t apart3[APART];
  int64_t ret_p[RING];
  uint8_t apart4[APART];
  int64_t fp[RING];
  uint8_t apart5[APART];
  int32_t depth[RING];
  uint8_t kind[RING];
};

/* An unwinder or a longjmp at work: left where a block that is not its own begins with a stack pointer from `first` on. */
struct walk {
  uint64_t first;
  uint64_t span;
  uint64_t code;
  uint64_t code_bytes;
  uint64_t back; /* or at this block of its code */
};

enum { WALKS = 26 }; /* as Unwinding has them, readers too, a longjmp, and the window of what is hijacked */

/* Lines of the cache: what each block needs, what entries and exits need, and the rest. */
struct core {
  uint64_t now; /* guest instructions executed, the tracer's own excluded */
  uint64_t deadline;
  uint64_t attention; /* ATTENTION_..: the next block is not just one more of the program */
  struct block *blocks;
  uint64_t block_mask;
  const struct block *last; /* of the program */
  const uint8_t *stack_pointer_at; /* in the engine's memory; `nothing` where that is not known */
  uint64_t watched; /* as in struct frame, of the topmost frame that has not been left */

  uint64_t long_words; /* 1: words are long, and where registers are is known */
  uint64_t mode; /* MODE_.. */
  uint64_t host_clock; /* 1: times are nanoseconds of CLOCK_MONOTONIC since host_origin */
  uint64_t any_given_up; /* 1: there are such frames */
  uint64_t regions_stale;
  uint64_t record_count;
  uint64_t record_capacity;
  struct ring *ring;

  struct frame *frames;
  uint64_t frame_count;
  uint64_t frames_used; /* one past the highest ever pushed: frames beyond frame_count are dead, not gone */
  uint64_t frame_capacity;
  uint64_t shown; /* open frames by the records, where those above frame_count were given up since; else less */
  uint64_t stack_low; /* of the window of the current context: what lies outside may be another's */
  uint64_t stack_size;
  struct card *cards;

  /* Where the engine keeps registers, whose numbers are then offsets from here; NULL: not known, they are ids. */
  uint8_t *registers;
  uint64_t stack_pointer;
  uint64_t slot_reach;
  uint64_t code_mask;
  uint64_t swap;
  struct region last_region;

  struct site *block_sites; /* of blocks, by index */
  uint64_t behind; /* one more than the index of the site of the skipped call that the last block ended with; or 0 */
  struct trampoline *trampolines; /* by target; NULL: no more of them */
  uint64_t trampoline_start;
  uint64_t trampoline_shift;
  uint64_t handlers; /* a power of two */
  uint64_t passes; /* blocks of the tracer that ran */
  uint64_t stop;

  int (*reg_read)(uc_engine *, int, void *);
  int (*reg_write)(uc_engine *, int, const void *);
  int (*emu_stop)(uc_engine *);
  int (*ctl)(uc_engine *, int, ...);
  void (*resumed)(uc_engine *, uint64_t, uint32_t, uint64_t); /* the block that a core started again with */
  uint64_t resumed_user;
  uint64_t request_cache; /* control word of uc_ctl_request_cache */

  uint64_t deadline_kind; /* DEADLINE_.. */
  struct block nowhere; /* what last is after a block of the tracer */
  struct block unlisted; /* what last is after a block that is in no table */
  uint64_t last_end; /* one past the last block */
  uint64_t stops_at_jumps; /* 1: no stop before a block that stands right behind the last: it may be a delay slot */
  uint64_t left; /* 1: it was left in its middle, and all of it was counted */
  uint64_t resuming; /* 1: the next block is the rest of one that was counted */
  uint64_t host_origin;

  uint64_t stop_address;
  uint64_t stop_size;
  uint64_t stop_count;
  uint64_t stop_value;

  struct site *sites; /* of calls, by return address */
  uint64_t site_mask;
  const uint64_t *callers; /* code from which functions are called by their addresses: starts, each with a size */
  uint64_t caller_count;
  struct host_range *regions;
  uint64_t region_count;

  uint64_t landing_start;
  uint64_t homes_start; /* landing_start: there are none */
  uint64_t handlers_end;
  uint64_t landing_shift;
  uint8_t *mailbox;
  uint64_t trampoline_end; /* trampoline_start: there are none */

  uint64_t muted; /* 1: the current task is not meant */
  uint64_t frame_limit;

  uint64_t overruns;
  uint64_t unhijackable;

  uint64_t word_mask;
  uint64_t word_bytes;
  uint64_t watching; /* 1: each block is looked at */
  uint64_t watch_shift; /* 32 where words are short */
  uint64_t pushes; /* 1: calls push the return address, so that the stack pointer shows exactly when a frame is left */

  int64_t known_reg[2]; /* the last registers read since the event began */
  uint64_t known_value[2];
  uint64_t nothing; /* 0 */

  int64_t graph_base; /* index of the frame that opened the graph; NONE */
  uint64_t max_depth;
  int64_t min_duration;
  uint64_t written; /* frames from here on have no record of their entry yet */
  uint64_t triggered; /* 1: the next entry was asked about */
  struct arguments *arguments; /* by index of the card */
  int64_t stop_time;
  uint64_t stop_fp;
  uint64_t stop_self; /* with ASK_ENTRY_TASK of a site with SPECIAL_TASK: it, where its function returns to, */
  uint64_t stop_from; /* and its argument */
  uint64_t stop_argument;
  uint64_t task_argument; /* index of that */
  const uint8_t *task_variable; /* NULL: there is none */
  uint64_t task_bytes;
  uint64_t task_value; /* of the current task */
  uint64_t answered; /* ANSWER_..: what Java said of the entry or exit that it was asked about */
  uint64_t result; /* the register of a returned value */
  struct walk walks[WALKS];
  uint64_t walk_count;
  struct frame fresh[FRESH]; /* given up, and not yet known to Java */
  uint64_t fresh_depth[FRESH];
  uint64_t fresh_count;
  struct given_up *given_up; /* those that Java knows, by ret_p */
  uint64_t given_up_count;
  uint64_t given_up_stale; /* 1: Java knows others by now */
  uint64_t unsure; /* 1: those that Java knows are needed here: ASK_WHICH_GIVEN_UP */
  const struct home *homes; /* by target; NULL: none yet */
  uint64_t home_mask;
  uint64_t home_word; /* bytes from a home to the word with its target; 0: the mailbox */
  uint64_t homes_full; /* 1: no more can be made */
  uint64_t revived; /* with ANSWER_GIVEN_UP: where the program continues */
  uint64_t reads; /* 1: the entry is that of a function that reads return addresses, and is done */
  uint64_t entered; /* the block that was stopped at behind an entry; UNMET: none */
  uint64_t met; /* the block of which Java has said what there is to say of unwinders; UNMET */
  uint64_t returned; /* one past the block of the program that ran before the last exits */
  uint64_t split_time; /* when a block was left in its middle last */
  uint64_t left_alone[LEFT_ALONE]; /* the first sites of those in unhijackable */
  uint64_t left_alone_count;
};

static void stop_before(uc_engine *uc, struct core *c, uint64_t address, int reason) {
  c->stop = (uint64_t)reason;
  c->stop_address = address;
  c->emu_stop(uc);
}

/* Where the search for an address begins in a table: each 64 bytes of code have 8 entries side by side. */
static inline uint64_t bucket(uint64_t address) {
  return (((address >> 6) * UINT64_C(0x9e3779b97f4a7c15)) >> 32 << 3) | (address >> 3 & 7);
}

#endif
