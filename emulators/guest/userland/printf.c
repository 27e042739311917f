// A user's own program, hosted: what the C library prints and reads back, and the arithmetic behind it (64-bit on
// 32-bit processors, floating point). Exit code 0, or the number of values that did not come back.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define KEEP __attribute__((noinline, noclone))

static int lost;

KEEP void integers(void) {
  printf("[%d] [%i] [%5d] [%-5d] [%05d] [%+d] [% d]\n", 42, -42, 42, 42, 42, 42, 42);
  printf("[%u] [%o] [%#o] [%x] [%#X] [%.8x]\n", UINT_MAX, 0777u, 0777u, 0xbeefu, 0xbeefu, 0x1234u);
  printf("[%hhd] [%hd] [%hu] [%zu] [%td] [%jd]\n", (signed char)-1, (short)-2, (unsigned short)65535, (size_t)12345,
         (ptrdiff_t)-7, (intmax_t)INTMAX_MIN);
  printf("[%lld] [%llu] [%llx] [%20lld] [%-20lld]\n", LLONG_MIN, ULLONG_MAX, 0x123456789abcdefull, 1ll << 40,
         -(1ll << 40));
  printf("[%*d] [%-*d] [%.*d]\n", 6, 7, 6, 7, 3, 7);
  printf("[%2$s %1$s]\n", "second", "first");
}

KEEP void texts(void) {
  int characters = 0;
  printf("[%c] [%s] [%10s] [%-10s] [%.3s] [%%]%n\n", 'x', "text", "right", "left", "truncated", &characters);
  printf("%d characters; [%ls] [%lc]\n", characters, L"wide", (wint_t)L'w');
}

KEEP void floats(double value) {
  printf("[%f] [%.0f] [%10.3f] [%-12.1f] [%e] [%.3E] [%g] [%G] [%a] [%#.0f] [%+.2f]\n", value, value, value, value,
         value, value, value, value, value, value, value);
}

KEEP void long_floats(long double value) { printf("[%Lf] [%Le] [%.3Lg]\n", value, value, value); }

KEEP double series(int terms) {
  double sum = 0;
  for (int i = 0; i < terms; i++) sum += (i % 2 == 0 ? 4.0 : -4.0) / (2 * i + 1);
  return sum;
}

KEEP unsigned long long power(unsigned long long base, unsigned exponent, unsigned long long modulus) {
  unsigned long long result = 1;
  for (base %= modulus; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result * base % modulus;
    base = base * base % modulus;
  }
  return result;
}

KEEP long long quotient(long long left, long long right) { return left / right * 1000 + left % right; }

KEEP void read_back(double value) {
  char text[64];
  snprintf(text, sizeof text, "%.17g", value);
  double again = strtod(text, NULL);
  if (memcmp(&again, &value, sizeof value) != 0) lost++;
  printf("%s -> %a\n", text, again);
}

KEEP int total(const char *kinds, ...) {
  va_list list;
  double sum = 0;
  va_start(list, kinds);
  for (; *kinds != '\0'; kinds++) {
    switch (*kinds) {
      case 'i': sum += va_arg(list, int); break;
      case 'l': sum += (double)va_arg(list, long long); break;
      default: sum += va_arg(list, double); break;
    }
  }
  va_end(list);
  return (int)sum;
}

int main(void) {
  integers();
  texts();
  static const double values[] = {0, -0.0, 1, -1.5, 3.14159265358979, 1e10, 1.0 / 3, DBL_MAX, DBL_MIN, DBL_EPSILON, 1e-310};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    floats(values[i]);
    read_back(values[i]);
  }
  floats(strtod("inf", NULL));
  floats(-strtod("inf", NULL));
  long_floats(2.5L);
  long_floats(1.0L / 7);
  printf("%.12f %.12f\n", series(2000), sqrt(2));
  printf("%llu %llu\n", power(3, 1000003, 1000000007ull), power(7, 65537, 4294967291ull));
  printf("%lld %lld %lld\n", quotient(1ll << 50, 12345), quotient(-(1ll << 50), 12345), quotient(LLONG_MAX, -3));
  printf("%d\n", total("idlidl", 1, 2.5, 3ll << 20, -4, 1e3, -5ll));
  char small[8];
  const char *volatile long_text = "overflow"; // the compiler must not see that it is cut
  int wanted = snprintf(small, sizeof small, "%s-%d", long_text, 99);
  int day = 0;
  unsigned mask = 0;
  char word[16] = "";
  double number = 0;
  int read = sscanf("7 0xff word 2.5e3", "%d %x %15s %lf", &day, &mask, word, &number);
  printf("%s %d; %d: %d %u %s %g; %ld %lld\n", small, wanted, read, day, mask, word, number, strtol("-0x1f", NULL, 0),
         strtoll("9223372036854775807", NULL, 10));
  return lost;
}
