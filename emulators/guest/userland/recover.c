// A user's own program, hosted: an error handler by setjmp and longjmp of the C library. A tiny calculator reads
// `NUMBER OPERATOR NUMBER ...` from its arguments; a division by zero leaves three frames at once.
//
//   recover 7 / 2 + 1    prints 4
//   recover 7 / 0        prints "recovered: division by zero", exit code 5
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf recovery;

__attribute__((noinline, noclone)) void give_up(int code) { longjmp(recovery, code); }

__attribute__((noinline, noclone)) long divide(long left, long right) {
  if (right == 0) give_up(5);
  return left / right;
}

__attribute__((noinline, noclone)) long apply(long left, char operator, long right) {
  switch (operator) {
    case '+': return left + right;
    case '-': return left - right;
    case 'x': return left * right;
    case '/': return divide(left, right) + 0;
    default: give_up(6);
  }
  return 0;
}

__attribute__((noinline, noclone)) long evaluate(char **words) {
  long value = *words == NULL ? 0 : atol(*words++);
  while (words[0] != NULL && words[1] != NULL) {
    value = apply(value, words[0][0], atol(words[1]));
    words += 2;
  }
  return value;
}

__attribute__((noinline, noclone)) void report(int code) {
  printf("recovered: %s\n", code == 5 ? "division by zero" : "unknown operator");
}

int main(int argc, char **argv) {
  int code = setjmp(recovery);
  if (code != 0) {
    report(code);
    return code;
  }
  printf("%ld\n", evaluate(argv + (argc > 0)));
  return 0;
}
