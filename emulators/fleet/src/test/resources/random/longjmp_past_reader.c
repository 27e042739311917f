// A function that reads its return address, took the place of another (a tail call), and is jumped back to: the slot of
// the other lies below its own on aarch64. A regression test of RandomProgramsTest, which found it (seed 3,
// aarch64-mcount-O2): its return was not seen, and later that of another call was taken for it.
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
unsigned random_3(unsigned x, int fuel);
unsigned random_4(unsigned x, int fuel);
unsigned random_5(unsigned x, int fuel);
unsigned long long random_6(unsigned long long w, int fuel);
number random_7(number d, unsigned x, int fuel);
unsigned random_8(unsigned x, int fuel);
unsigned random_9(unsigned x, int fuel);
unsigned random_10(unsigned x, int fuel);
unsigned random_11(unsigned x, int fuel);
unsigned long long random_12(unsigned long long w, int fuel);
unsigned random_13(unsigned x, int fuel);
struct words4 random_14(struct words4 v, int fuel);
unsigned random_15(unsigned x, int fuel);
unsigned random_16(unsigned x, int fuel);
unsigned random_17(unsigned x, int fuel);
unsigned random_18(unsigned x, int fuel);
number random_19(number d, unsigned x, int fuel);
unsigned random_20(unsigned x, int fuel);
unsigned random_21(unsigned x, int fuel);
unsigned random_22(unsigned x, int fuel);
static plain_function *const random_table[8] = {random_4, random_8, random_17, random_18, random_18, random_16, random_17, random_0};

TRACED unsigned random_0(unsigned x, int fuel) {
  return mix(x, 0xc132f37fu + (unsigned)fuel);
}

TRACED unsigned random_1(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  if (x & 16) {
  {
    unsigned r = random_5(x ^ 0xc36296e7u, fuel - 2);
    x = mix(x, r);
  }
  } else {
  {
    struct words4 v;
    for (unsigned i = 0; i < 4; i++) v.word[i] = x ^ i;
    v = random_14(v, fuel / 2);
    unsigned r = v.word[0] ^ v.word[3];
    x = mix(x, r);
  }
  }
  {
    unsigned r = random_8(x ^ 0x3aee0e30u, fuel - 1);
    x = mix(x, r);
  }
  {
    unsigned r = random_17(x ^ 0xabd1e7c6u, fuel / 2);
    x = mix(x, r);
  }
  return x ^ 0xf0a86a87u;
}

TRACED unsigned random_2(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  return TAIL_CALL(random_21(x ^ 0x77fe4c5eu, fuel - 1));
}

TRACED unsigned random_3(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  volatile unsigned room[128];
  for (unsigned i = 0; i < 128; i++) room[i] = x + i;
  {
    unsigned r = random_table[(x >> 13) & 7](x, fuel - 1);
    x = mix(x, r);
  }
  x ^= room[x & 15];
  return TAIL_CALL(random_8(x ^ 0x21cd6a1bu, fuel - 1));
}

TRACED unsigned random_4(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  {
    unsigned r = random_11(x ^ 0x3efa0d6cu, fuel - 1);
    x = mix(x, r);
  }
  if (x & 1) {
  {
    unsigned r = random_22(x ^ 0x9e9ce66bu, fuel - 1);
    x = mix(x, r);
  }
  } else {
  {
    unsigned r = random_22(x ^ 0xaa6b40a3u, fuel - 1);
    x = mix(x, r);
  }
  }
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_21(x ^ 0x24471b30u, fuel - 2);
    x = mix(x, r);
  }
  return x ^ 0x5b4c0349u;
}

TRACED unsigned random_5(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  int to = (int)(x >> 13) & 7;
  if (to < random_places) zoo_longjmp(&random_place[to], 1 + (int)(x & 15));
  return x ^ 0x78713f4bu;
}

TRACED unsigned long long random_6(unsigned long long w, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return w;
  random_spent++;
  unsigned x = (unsigned)(w >> 32);
  {
    unsigned r = random_22(x ^ 0xbc91dd0du, fuel - 2);
    x = mix(x, r);
  }
  {
    unsigned r = random_table[(x >> 20) & 7](x, fuel - 2);
    x = mix(x, r);
  }
  return (w << 7 | w >> 57) ^ ((unsigned long long)x << 13);
}

TRACED number random_7(number d, unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return d;
  random_spent++;
  volatile unsigned room[256];
  for (unsigned i = 0; i < 256; i++) room[i] = x + i;
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_18(x ^ 0x6a0a9df6u, fuel - 2);
    x = mix(x, r);
  }
  x ^= room[x & 15];
  return NUMBER(x) + NUMBER(UNSIGNED(d));
}

TRACED unsigned random_8(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  for (int n = 0; n < 4; n++) {
    x += (unsigned)n;
  {
    unsigned r = random_11(x ^ 0xbefe9ed8u, fuel / 2);
    x = mix(x, r);
  }
  }
  {
    unsigned r = random_table[(x >> 27) & 7](x, fuel - 1);
    x = mix(x, r);
  }
  {
    unsigned r = random_table[(x >> 4) & 7](x, fuel - 3);
    x = mix(x, r);
  }
  {
    struct words4 v;
    for (unsigned i = 0; i < 4; i++) v.word[i] = x ^ i;
    v = random_14(v, fuel - 2);
    unsigned r = v.word[0] ^ v.word[3];
    x = mix(x, r);
  }
  return x ^ 0x5195102eu;
}

TRACED unsigned random_9(unsigned x, int fuel) {
  return mix(x, 0xd3052363u + (unsigned)fuel);
}

TRACED unsigned random_10(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  if (x & 1) {
  {
    unsigned r = random_5(x ^ 0xd2ca5a22u, fuel / 2);
    x = mix(x, r);
  }
  } else {
  {
    unsigned r = random_0(x ^ 0xb216b975u, fuel - 2);
    x = mix(x, r);
  }
  }
  {
    unsigned r = random_10(x ^ 0x2ea09444u, fuel / 2);
    x = mix(x, r);
  }
  return x ^ 0xd662b2ccu;
}

TRACED unsigned random_11(unsigned x, int fuel) {
#if TAIL_POINTER
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  {
    unsigned r = random_22(x ^ 0xd1cfc4f7u, fuel - 2);
    x = mix(x, r);
  }
  return TAIL_CALL(random_table[x & 7](x ^ 0x7b3ac7bu, fuel - 1));
#else
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  volatile unsigned room[256];
  for (unsigned i = 0; i < 256; i++) room[i] = x + i;
  if (x & 8192) {
  {
    unsigned r = random_3(x ^ 0x32e3a826u, fuel - 2);
    x = mix(x, r);
  }
  } else {
  {
    unsigned r = random_5(x ^ 0x1f475b5du, fuel / 2);
    x = mix(x, r);
  }
  }
  {
    struct words4 v;
    for (unsigned i = 0; i < 4; i++) v.word[i] = x ^ i;
    v = random_14(v, fuel - 2);
    unsigned r = v.word[0] ^ v.word[3];
    x = mix(x, r);
  }
  x ^= room[x & 15];
  return x + 1u;
#endif
}

TRACED unsigned long long random_12(unsigned long long w, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return w;
  random_spent++;
  unsigned x = (unsigned)(w >> 32);
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned long long w = random_6((unsigned long long)x << 32 | 0x885230efu, fuel / 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  {
    unsigned r = random_0(x ^ 0xa23cbe1eu, fuel - 2);
    x = mix(x, r);
  }
  return (w << 7 | w >> 57) ^ ((unsigned long long)x << 13);
}

TRACED unsigned random_13(unsigned x, int fuel) {
  return mix(x, 0xd1e4989bu + (unsigned)fuel);
}

TRACED struct words4 random_14(struct words4 v, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return v;
  random_spent++;
  unsigned x = v.word[0];
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_1(x ^ 0x172885eeu, fuel / 2);
    x = mix(x, r);
  }
  v.word[x & 3] ^= x;
  return v;
}

TRACED unsigned random_15(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  {
    unsigned r = random_5(x ^ 0x6008e032u, fuel - 2);
    x = mix(x, r);
  }
  for (int n = 0; n < 4; n++) {
    x += (unsigned)n;
  {
    unsigned r = random_21(x ^ 0x32c02de2u, fuel - 2);
    x = mix(x, r);
  }
  }
  {
    unsigned r = random_table[(x >> 0) & 7](x, fuel - 3);
    x = mix(x, r);
  }
  return x ^ 0xc06ba131u;
}

TRACED unsigned random_16(unsigned x, int fuel) {
  return mix(x, 0x681302fdu + (unsigned)fuel);
}

TRACED unsigned random_17(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  int to = (int)(x >> 18) & 7;
  if (to < random_places) zoo_longjmp(&random_place[to], 1 + (int)(x & 15));
  return x ^ 0x42028c1bu;
}

TRACED unsigned random_18(unsigned x, int fuel) {
#if TAIL_POINTER
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  {
    unsigned r = random_table[(x >> 15) & 7](x, fuel - 3);
    x = mix(x, r);
  }
  return TAIL_CALL(random_table[x & 7](x ^ 0x99c9bd9cu, fuel - 1));
#else
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  volatile unsigned room[32];
  for (unsigned i = 0; i < 32; i++) room[i] = x + i;
  {
    unsigned r = UNSIGNED(random_19(NUMBER(x), x + 2u, fuel / 2));
    x = mix(x, r);
  }
  {
    unsigned r = random_15(x ^ 0xe70153e9u, fuel - 2);
    x = mix(x, r);
  }
  {
    unsigned r = random_13(x ^ 0x68d259e3u, fuel - 2);
    x = mix(x, r);
  }
  x ^= room[x & 15];
  return x + 1u;
#endif
}

TRACED number random_19(number d, unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return d;
  random_spent++;
  volatile unsigned room[128];
  for (unsigned i = 0; i < 128; i++) room[i] = x + i;
  {
    unsigned r = random_table[(x >> 2) & 7](x, fuel - 1);
    x = mix(x, r);
  }
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_2(x ^ 0x5fba9b47u, fuel - 1);
    x = mix(x, r);
  }
  {
    unsigned r = random_21(x ^ 0xbe09f3f6u, fuel - 1);
    x = mix(x, r);
  }
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned long long w = random_6((unsigned long long)x << 32 | 0x53fc1f8u, fuel - 2);
    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;
    x = mix(x, r);
  }
  x ^= room[x & 15];
  return NUMBER(x) + NUMBER(UNSIGNED(d));
}

TRACED unsigned random_20(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  volatile unsigned kept = x;
  volatile int left = fuel, mine = random_places;
  if (mine < 6) {
    random_places = mine + 1;
    int value = zoo_setjmp(&random_place[mine]);
    if (value != 0) {
      kept = kept + (unsigned)value;
      left = left / 2;
      random_places = mine + 1;
    }
    { unsigned x = kept; int fuel = left;
  for (int n = 0; n < 4; n++) {
    x += (unsigned)n;
  {
    unsigned r = random_16(x ^ 0x7ec24729u, fuel - 2);
    x = mix(x, r);
  }
  }
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_0(x ^ 0x4ac50a91u, fuel - 1);
    x = mix(x, r);
  }
      kept = x; }
    random_places = mine;
  }
  { unsigned x = kept; int fuel = left;
  {
    struct words4 v;
    for (unsigned i = 0; i < 4; i++) v.word[i] = x ^ i;
    v = random_14(v, fuel - 1);
    unsigned r = v.word[0] ^ v.word[3];
    x = mix(x, r);
  }
    return x + (unsigned)fuel; }
}

TRACED unsigned random_21(unsigned x, int fuel) {
  return mix(x, 0x43d339e1u + (unsigned)fuel);
}

TRACED unsigned random_22(unsigned x, int fuel) {
  if (fuel <= 0 || random_spent >= random_limit) return x;
  random_spent++;
  int to = (int)(x >> 19) & 7;
  if (to < random_places) zoo_longjmp(&random_place[to], 1 + (int)(x & 15));
  {
    unsigned r = UNSIGNED(random_7(NUMBER(x), x + 2u, fuel - 1));
    x = mix(x, r);
  }
  return x ^ 0xbc70fbdbu;
}
ZOO_PROGRAM(random, 0) {
  unsigned x = 0xe47a6f03u ^ (unsigned)argument;
  random_spent = 0, random_limit = 512;
  {
    int fuel = 300;
  {
    struct words4 v;
    for (unsigned i = 0; i < 4; i++) v.word[i] = x ^ i;
    v = random_14(v, fuel - 1);
    unsigned r = v.word[0] ^ v.word[3];
    x = mix(x, r);
  }
  for (int n = 0; n < 2; n++) {
    x += (unsigned)n;
  {
    unsigned r = random_22(x ^ 0xfba1f910u, fuel / 2);
    x = mix(x, r);
  }
  }
  }
  random_spent = 0, random_limit = 256;
  {
    int fuel = 26;
  for (int n = 0; n < 4; n++) {
    x += (unsigned)n;
  {
    unsigned r = random_3(x ^ 0xb3592720u, fuel - 2);
    x = mix(x, r);
  }
  }
  {
    unsigned r = random_2(x ^ 0xadc4790eu, fuel / 2);
    x = mix(x, r);
  }
  for (int n = 0; n < 4; n++) {
    x += (unsigned)n;
  {
    unsigned r = random_11(x ^ 0x6852e863u, fuel / 2);
    x = mix(x, r);
  }
  }
  }
  random_spent = 0, random_limit = 16;
  {
    int fuel = 4;
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_22(x ^ 0xd722c2f9u, fuel / 2);
    x = mix(x, r);
  }
  {
    unsigned r = random_table[(x >> 26) & 7](x, fuel - 1);
    x = mix(x, r);
  }
  }
  random_spent = 0, random_limit = 16;
  {
    int fuel = 15;
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_17(x ^ 0xe1c45fbeu, fuel - 2);
    x = mix(x, r);
  }
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = UNSIGNED(random_19(NUMBER(x), x + 2u, fuel / 2));
    x = mix(x, r);
  }
  x = mix(x, IS_TRUE_RETURN());
  {
    unsigned r = random_17(x ^ 0x5a6fd0d2u, fuel - 1);
    x = mix(x, r);
  }
  }
  char line[9];
  for (int i = 0; i < 8; i++) line[i] = "0123456789abcdef"[x >> (28 - 4 * i) & 15];
  line[8] = '\n';
  zoo_write(1, line, 9);
  return 0;
}
