// A counting function that keeps tables of the most-called addresses in the guest's own memory, as firmware does that
// has no tracer (the bare-metal seed's profiling()). Written from its description. While a tracer is at work it
// overwrites the first instruction with a return, so the tables stay empty then.
#include "profiling.h"

// What the program counts as idle, see hot.c.
long hot_idle(long x);

struct hot_table hot_seed = {.entries = 30, .width = 1, .increment = 10, .decay = 1};
struct hot_table hot_wide = {.entries = 12, .width = 64, .increment = 3, .decay = 0};
struct hot_table hot_small = {.entries = 5, .width = 1, .increment = 7, .decay = 1};

// floor(dividend / divisor) bit by bit: riscv32 has no library for 64 bits. The quotient fits where dividend >> 32 is
// smaller than the divisor or not, as C has it; a divisor of 0 gives all ones, as the instruction does.
UNTRACED static u64 divided(u64 dividend, u32 divisor) {
  u64 quotient = 0, rest = 0;
  for (int bit = 63; bit >= 0; bit--) {
    rest = rest << 1 | (dividend >> bit & 1);
    quotient <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
  }
  return quotient;
}

// Counts a hit of an entry, and moves it up past all that have fewer.
UNTRACED static void on_hit(struct hot_table *table, u32 at, u64 base) {
  struct hot_entry entry = table->items[at];
  table->prof_cnt += table->increment;
  entry.base_addr = base;
  entry.hit_cnt += table->increment;
  entry.hit_ratio = (u32)divided(entry.hit_cnt << 10, table->prof_cnt);
  for (; at > 0 && entry.hit_cnt > table->items[at - 1].hit_cnt; at--) table->items[at] = table->items[at - 1];
  table->items[at] = entry;
}

UNTRACED static void count(struct hot_table *table, unsigned long pc) {
  if (pc - table->ignored < table->width) return;
  if (table->decay) {
    struct hot_entry *turn = &table->items[table->decay_ndx];
    if (turn->hit_cnt > 1) {
      turn->hit_cnt--;
      table->prof_cnt--;
    }
    table->decay_ndx = table->decay_ndx + 1 == table->entries ? 0 : table->decay_ndx + 1;
  }
  const u64 base = pc & ~(unsigned long)(table->width - 1);
  u32 unused = table->entries;
  for (u32 i = 0; i < table->entries; i++) {
    if (table->items[i].base_addr == base) {
      on_hit(table, i, base);
      return;
    }
    if (unused == table->entries && table->items[i].hit_cnt == 0) unused = i;
  }
  if (unused == table->entries) {  // full: the last one is forgotten
    unused--;
    table->prof_cnt -= (u32)table->items[unused].hit_cnt;
    table->items[unused].hit_cnt = 0;
  }
  on_hit(table, unused, base);
}

// gcc -pg calls it behind each prologue. Calls are 4 bytes in these images (variants.sh), so the call is at ra - 4.
UNTRACED void _mcount(void) {
  const unsigned long pc = (unsigned long)__builtin_return_address(0) - 4;
  hot_wide.ignored = (unsigned long)hot_idle;
  count(&hot_seed, pc);
  count(&hot_wide, pc);
  count(&hot_small, pc);
}
