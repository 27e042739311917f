// The table of hot addresses of the bare-metal seed, kept by the guest itself.
#ifndef RETSTACK_PROFILING_H
#define RETSTACK_PROFILING_H

#define UNTRACED __attribute__((no_instrument_function))

typedef unsigned long long u64;
typedef unsigned int u32;

enum { MAX_ENTRIES = 30 };

struct hot_entry {
  u64 base_addr;
  u64 hit_cnt;
  u64 hit_ratio;  // of 1024, when it was last hit
};

// Same layout on 32 and 64 bits: a reader needs no more than the address.
struct hot_table {
  u32 entries;    // entries in use of the array below
  u32 width;      // addresses counted as one, a power of two
  u32 increment;  // what a hit adds
  u32 decay;      // 1: each hit takes 1 from the next entry in turn
  u64 ignored;    // addresses from here on, `width` of them, are not counted
  u32 prof_cnt;   // sum of all hits
  u32 decay_ndx;  // whose turn it is
  struct hot_entry items[MAX_ENTRIES];
};

// As the seed has it; wider and without decay; small and without a place for all.
extern struct hot_table hot_seed, hot_wide, hot_small;

#endif
