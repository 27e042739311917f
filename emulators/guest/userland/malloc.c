// A user's own program, hosted: the heap under a random load, from 1 byte to 1 MiB, every block filled and checked.
// Prints a checksum of what was found in the blocks. Exit code 0, or 9 where a block was damaged.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone))

enum { BLOCKS = 64, STEPS = 1500, LARGE = 1 << 20 };

struct block {
  unsigned char *bytes;
  size_t size;
  unsigned char mark;
};

static struct block blocks[BLOCKS];
static unsigned damaged, sum;

KEEP unsigned next_number(void) {
  static unsigned state = 99;
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

KEEP size_t some_size(void) {
  unsigned kind = next_number() % 100;
  if (kind < 80) return 1 + next_number() % 256;
  if (kind < 98) return 1 + next_number() % 16384;
  return 1 + next_number() % LARGE;
}

// The ends of a block are what a heap would damage.
KEEP void mark(struct block *block, unsigned char value) {
  block->mark = value;
  block->bytes[0] = value;
  block->bytes[block->size / 2] = value;
  block->bytes[block->size - 1] = value;
}

// The block's first `kept` bytes are those that were marked.
KEEP void check(const struct block *block, size_t kept) {
  if (block->bytes[0] != block->mark) damaged++;
  if (kept == block->size && block->bytes[kept - 1] != block->mark) damaged++;
  sum = sum * 31 + block->mark + (unsigned)kept;
}

KEEP void get_block(struct block *block) {
  block->size = some_size();
  switch (next_number() % 3) {
    case 0: block->bytes = malloc(block->size); break;
    case 1: block->bytes = aligned_alloc(64, (block->size + 63) & ~(size_t)63); break;
    default:
      block->bytes = calloc(block->size, 1);
      for (size_t i = 0; block->bytes != NULL && i < block->size; i += 97) damaged += block->bytes[i] != 0;
  }
  if (block->bytes == NULL) abort();
  if (((uintptr_t)block->bytes & (2 * sizeof(void *) - 1)) != 0) damaged++;
  mark(block, (unsigned char)next_number());
}

KEEP void resize(struct block *block) {
  size_t size = some_size();
  unsigned char *bytes = realloc(block->bytes, size);
  if (bytes == NULL) abort();
  block->bytes = bytes;
  check(block, size < block->size ? size : block->size);
  block->size = size;
  mark(block, (unsigned char)next_number());
}

KEEP void give_back(struct block *block) {
  check(block, block->size);
  free(block->bytes);
  block->bytes = NULL;
}

int main(void) {
  for (int step = 0; step < STEPS; step++) {
    struct block *block = &blocks[next_number() % BLOCKS];
    if (block->bytes == NULL) {
      get_block(block);
    } else if (next_number() % 4 == 0) {
      resize(block);
    } else {
      give_back(block);
    }
  }
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].bytes != NULL) give_back(&blocks[i]);
  }
  printf("%08x %u\n", sum, damaged);
  return damaged == 0 ? 0 : 9;
}
