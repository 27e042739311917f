#include "zoo.h"

#include <stdarg.h>

HELPER unsigned mix(unsigned x, unsigned r) { return ((x ^ r) << 5 | (x ^ r) >> 27) * 2654435761u + 1u; }

typedef unsigned plain_function(unsigned, int);
static plain_function *const random_table[8];
static int random_spent, random_limit, random_places;
static zoo_jmp_buf random_place[6];
#if FLOATS
typedef double number;
#define NUMBER(x) ((double)(int)((x) & 0xffff))
#define UNSIGNED(d) ((unsigned)(int)(d))
#else
typedef unsigned number;
#define NUMBER(x) ((x) & 0xffff)
#define UNSIGNED(d) (d)
#endif
#if READS
HELPER unsigned near(const void *address) {
  return (unsigned long)address - (unsigned long)random_table + 0x1000000ul < 0x2000000ul;
}
#define IS_TRUE_RETURN() near(__builtin_extract_return_addr(__builtin_return_address(0)))
#else
#define IS_TRUE_RETURN() 1u
#endif
struct words1 { unsigned word[1]; };
struct words2 { unsigned word[2]; };
struct words3 { unsigned word[3]; };
struct words4 { unsigned word[4]; };
struct words7 { unsigned word[7]; };
struct words16 { unsigned word[16]; };
struct numbers { number a, b; };
unsigned random_0(unsigned x, int fuel);
unsigned random_1(unsigned x, int fuel);
unsigned random_2(unsigned x, int fuel);
unsigned random_3(plain_function *f, unsigned x, int fuel);
unsigned long long random_4(unsigned long long w, int fuel);
unsigned random_5(unsigned x, int fuel);
unsigned long long random_6(unsigned long long w, int fuel);
number random_7(number d, unsigned x, int fuel);
unsigned random_8(unsigned x, int fuel);
unsigned long long random_9(unsigned long long w, int fuel);
static plain_function *const random_table[8] = {random_2, random_8, random_0, random_1, random_2, random_0, random_0, random_1};

TRACED unsigned random_0(unsigned x, int fuel) {
  return mix(x, 0x7d4e67ccu + (unsigned)fuel);
}

TRACED unsigned random_1(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  {
    unsigned long long w = random_9((unsigned long long)x << 32 | 0xfd655dafu, fuel - 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  {
    unsigned long long w = random_9((unsigned long long)x << 32 | 0x396e2d5cu, fuel / 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  {
    unsigned r = random_0(x ^ 0x55d25a5fu, fuel - 1);
    x = mix(x, r);
  }
  return x ^ 0xe924c054u;
}

TRACED unsigned random_2(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  if (x & 2) {
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_3(random_8, x, fuel - 2);
    x = mix(x, r);
  }
    return x + 3u;
  }
  return TAIL_CALL(random_0(x ^ 0xff5eca96u, fuel - 1));
}

TRACED unsigned random_3(plain_function *f, unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  for (unsigned i = 0; i < 1; i++) {
    unsigned r = f(x + i, fuel - 1);
    x = mix(x, r);
  }
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned long long w = random_6((unsigned long long)x << 32 | 0x3c6d8fd4u, fuel - 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  return x;
}

TRACED unsigned long long random_4(unsigned long long w, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return w;
  random_spent++;
  unsigned x = (unsigned)(w >> 32);
  {
    unsigned long long w = random_6((unsigned long long)x << 32 | 0x94196900u, fuel - 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  if (x & 2048) {
  {
    unsigned long long w = random_6((unsigned long long)x << 32 | 0x7fa7ae6bu, fuel - 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  } else {
  {
    unsigned r = random_5(x ^ 0xd9e5685fu, fuel - 2);
    x = mix(x, r);
  }
  }
  return (w << 7 | w >> 57) ^ ((unsigned long long)x << 13);
}

TRACED unsigned random_5(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  {
    unsigned long long w = random_6((unsigned long long)x << 32 | 0x4d694a4u, fuel - 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  {
    unsigned long long w = random_9((unsigned long long)x << 32 | 0xbc5883eu, fuel - 1);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  return x ^ 0xe0dd29adu;
}

TRACED unsigned long long random_6(unsigned long long w, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return w;
  random_spent++;
  unsigned x = (unsigned)(w >> 32);
  {
    unsigned r = random_table[(x >> 20) & 7](x, fuel - 2);
    x = mix(x, r);
  }
  for (int n = 0; n < 2; n++) {
    x += (unsigned)n;
  {
    unsigned long long w = random_9((unsigned long long)x << 32 | 0xeafa464bu, fuel / 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  }
  return (w << 7 | w >> 57) ^ ((unsigned long long)x << 13);
}

TRACED number random_7(number d, unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return d;
  random_spent++;
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_2(x ^ 0x8440b44fu, fuel - 2);
    x = mix(x, r);
  }
  return NUMBER(x) + NUMBER(UNSIGNED(d));
}

TRACED unsigned random_8(unsigned x, int fuel) {
#if TAIL_POINTER
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  {
    unsigned long long w = random_6((unsigned long long)x << 32 | 0x16687b83u, fuel - 1);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  return TAIL_CALL(random_table[x & 7](x ^ 0x9096362u, fuel - 1));
#else
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  for (int n = 0; n < 2; n++) {
    x += (unsigned)n;
  {
    unsigned r = random_0(x ^ 0xe4c9949eu, fuel - 2);
    x = mix(x, r);
  }
  }
  if (x & 512) {
  {
    unsigned r = UNSIGNED(random_7(NUMBER(x), x + 2u, fuel / 2));
    x = mix(x, r);
  }
  } else {
  {
    unsigned r = random_1(x ^ 0xb2b66cf0u, fuel - 1);
    x = mix(x, r);
  }
  }
  {
    unsigned r = random_5(x ^ 0x598c22a9u, fuel - 2);
    x = mix(x, r);
  }
  return x + 1u;
#endif
}

TRACED unsigned long long random_9(unsigned long long w, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return w;
  random_spent++;
  unsigned x = (unsigned)(w >> 32);
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_5(x ^ 0x2d958469u, fuel - 2);
    x = mix(x, r);
  }
  {
    unsigned long long w = random_9((unsigned long long)x << 32 | 0xc6c37d79u, fuel - 1);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = UNSIGNED(random_7(NUMBER(x), x + 2u, fuel - 2));
    x = mix(x, r);
  }
  return (w << 7 | w >> 57) ^ ((unsigned long long)x << 13);
}
ZOO_PROGRAM(random, 0) {
  unsigned x = 0x287e092u ^ (unsigned)argument;
  random_spent = 0, random_limit = 16;
  {
    int fuel = 2;
  {
    unsigned r = random_2(x ^ 0x8837e068u, fuel - 1);
    x = mix(x, r);
  }
  }
  random_spent = 0, random_limit = 64;
  {
    int fuel = 21;
  {
    unsigned r = random_8(x ^ 0xb1e3de04u, fuel - 1);
    x = mix(x, r);
  }
  {
    unsigned r = random_table[(x >> 22) & 7](x, fuel - 1);
    x = mix(x, r);
  }
  }
  random_spent = 0, random_limit = 32;
  {
    int fuel = 300;
  {
    unsigned r = random_3(random_5, x, fuel - 1);
    x = mix(x, r);
  }
  }
  char line[9];
  for (int i = 0; i < 8; i++) line[i] = "0123456789abcdef"[x >> (28 - 4 * i) & 15];
  line[8] = '\n';
  zoo_write(1, line, 9);
  return 0;
}
