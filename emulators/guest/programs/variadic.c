// Variadic calls: x86_64 passes the number of vector registers in al over the entry hook; riscv64 moves the frame
// pointer away from the caller's stack pointer.
#include "zoo.h"

#include <stdarg.h>

TRACED long sum_ints(int count, ...) {
  va_list rest;
  long sum = 0;
  va_start(rest, count);
  for (int i = 0; i < count; i++) sum += va_arg(rest, int);
  va_end(rest);
  return sum;
}

TRACED double sum_doubles(int count, ...) {
  va_list rest;
  double sum = 0;
  va_start(rest, count);
  for (int i = 0; i < count; i++) sum += va_arg(rest, double);
  va_end(rest);
  return sum;
}

TRACED long scale(long value) { return value * 10; }

// 'i' int, 'l' long, 'd' double; calls a traced function while the list is being read.
TRACED double sum_by_format(const char *format, ...) {
  va_list rest;
  double sum = 0;
  va_start(rest, format);
  for (; *format != 0; format++) {
    if (*format == 'i') sum += (double)scale(va_arg(rest, int));
    if (*format == 'l') sum += (double)va_arg(rest, long);
    if (*format == 'd') sum += va_arg(rest, double);
  }
  va_end(rest);
  return sum;
}

TRACED long sum_list(int count, va_list rest) {
  long sum = 0;
  for (int i = 0; i < count; i++) sum += va_arg(rest, long);
  return sum;
}

TRACED long sum_forwarded(int count, ...) {
  va_list rest;
  va_start(rest, count);
  long sum = sum_list(count, rest);
  va_end(rest);
  return sum;
}

ZOO_PROGRAM(variadic, 5) {
  CHECK(1, sum_ints(0) == 0);
  CHECK(2, sum_ints(3, 1, -2, (int)argument) == argument - 1);
  CHECK(3, sum_ints(12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) == 78);
  CHECK(4, sum_doubles(2, 0.5, 1.25) == 1.75);
  CHECK(5, sum_doubles(11, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 0.5) == 55.5);
  CHECK(6, sum_by_format("idlid", 1, 0.5, 100L, 2, 0.25) == 130.75);
  CHECK(7, sum_forwarded(4, 10L, 20L, 30L, 40L) == 100);
  return 0;
}
