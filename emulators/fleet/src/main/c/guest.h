/* Registers and memory of the guest, and the values that an ABI card describes by them. */
#ifndef RETSTACK_GUEST_H
#define RETSTACK_GUEST_H

#include "core.h"

static __attribute__((noinline)) uint64_t reg_ask(uc_engine *uc, struct core *c, int reg) {
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

/*
 * USUAL: for a core with long words whose registers are known, and memory near the last that was asked for. What is not
 * so fails, and ANY finds it. Constant in every call.
 */
enum guest { ANY, USUAL };

HOT uint64_t reg_read(uc_engine *uc, struct core *c, const enum guest guest, int reg) {
  if (guest == ANY && c->registers == NULL) {
    return reg_ask(uc, c, reg);
  }
  if (guest == USUAL || c->word_bytes == 8) {
    uint64_t v;
    memcpy(&v, c->registers + reg, 8);
    return v;
  }
  uint32_t v;
  memcpy(&v, c->registers + reg, 4);
  return v;
}

HOT uint64_t masked(const struct core *c, const enum guest guest, uint64_t value) {
  return guest == USUAL ? value : value & c->word_mask;
}

HOT void reg_write(uc_engine *uc, struct core *c, const enum guest guest, int reg, uint64_t value) {
  if (guest == USUAL) {
    memcpy(c->registers + reg, &value, 8);
  } else if (c->registers == NULL) {
    c->reg_write(uc, reg, &value);
  } else {
    memcpy(c->registers + reg, &value, c->word_bytes == 8 ? 8 : 4);
  }
}

enum { PAGE_SHIFT = 12, PAGES_KEPT = 64 };

/* The mapped part of a range around an address, as far as a few pages; of size 0 where it is not mapped. */
static struct region mapped_part(const struct host_range *r, uint64_t address) {
  uint64_t pages = r->all.size >> PAGE_SHIFT, page = (address - r->all.start) >> PAGE_SHIFT;
  uint64_t first = page, end = page;
  while (end < pages && end < page + PAGES_KEPT && r->pages[end]) {
    end++;
  }
  while (end > page && first > 0 && first + PAGES_KEPT > page && r->pages[first - 1]) {
    first--;
  }
  uint64_t from = first << PAGE_SHIFT;
  return (struct region){r->all.start + from, (end - first) << PAGE_SHIFT, r->all.host + from};
}

static __attribute__((noinline)) uint8_t *search_word(struct core *c, uint64_t address) {
  uint64_t low = 0, high = c->region_count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (c->regions[middle].all.start <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) {
    return NULL;
  }
  const struct host_range *range = &c->regions[low - 1];
  struct region r = range->all;
  if (address - r.start < r.size && range->pages != NULL) {
    r = mapped_part(range, address);
  }
  if (address - r.start >= r.size || r.size - (address - r.start) < c->word_bytes) {
    return NULL;
  }
  c->last_region = r;
  return r.host + (address - r.start);
}

/* The host address of a word of the guest; NULL where it is not wholly in one mapping. */
HOT uint8_t *word_at(struct core *c, const enum guest guest, uint64_t address) {
  uint64_t offset = address - c->last_region.start, bytes = guest == USUAL ? 8 : c->word_bytes;
  if (__builtin_expect(offset < c->last_region.size && c->last_region.size - offset >= bytes, 1)) {
    return c->last_region.host + offset;
  }
  return guest == USUAL ? NULL : search_word(c, address);
}

HOT uint64_t load(const struct core *c, const enum guest guest, const uint8_t *at) {
  if (guest == USUAL || c->word_bytes == 8) {
    uint64_t v;
    memcpy(&v, at, 8);
    return c->swap ? __builtin_bswap64(v) : v;
  }
  uint32_t v;
  memcpy(&v, at, 4);
  return c->swap ? __builtin_bswap32(v) : v;
}

HOT void store(const struct core *c, const enum guest guest, uint8_t *at, uint64_t value) {
  if (guest == USUAL || c->word_bytes == 8) {
    uint64_t v = c->swap ? __builtin_bswap64(value) : value;
    memcpy(at, &v, 8);
  } else {
    uint32_t v = c->swap ? __builtin_bswap32((uint32_t)value) : (uint32_t)value;
    memcpy(at, &v, 4);
  }
}

/* The value of an operand; 0 and *failed where it is in memory that is not there. */
HOT uint64_t value(uc_engine *uc, struct core *c, const enum guest guest, const struct operand *o, int *failed) {
  if (o->reg == NONE) {
    return 0;
  }
  uint64_t sum = masked(c, guest, reg_read(uc, c, guest, o->reg) + (uint64_t)o->offset);
  if (!o->in_memory) {
    return sum;
  }
  const uint8_t *at = word_at(c, guest, sum);
  if (at == NULL) {
    *failed = 1;
    return 0;
  }
  return masked(c, guest, load(c, guest, at) + (uint64_t)o->addend);
}

#endif
