// The functions that gcc may call even in freestanding code. Not instrumented; built with
// -fno-tree-loop-distribute-patterns, else each would be compiled into a call of itself.
void *memcpy(void *restrict to, const void *restrict from, unsigned long count) {
  unsigned char *t = to;
  const unsigned char *f = from;
  while (count-- > 0) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, unsigned long count) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t < f) {
    while (count-- > 0) *t++ = *f++;
  } else {
    while (count-- > 0) t[count] = f[count];
  }
  return to;
}

void *memset(void *to, int value, unsigned long count) {
  unsigned char *t = to;
  while (count-- > 0) *t++ = (unsigned char)value;
  return to;
}

int memcmp(const void *left, const void *right, unsigned long count) {
  const unsigned char *l = left, *r = right;
  for (; count > 0; count--, l++, r++) {
    if (*l != *r) return *l - *r;
  }
  return 0;
}
