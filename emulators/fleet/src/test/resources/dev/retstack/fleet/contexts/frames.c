/* Functions that make a frame in any case, and some that need none. Prints a checksum. */
#include <stdio.h>
__attribute__((noinline)) int leaf(int n) { __asm__ volatile(""); return n * 3 + 1; }
__attribute__((noinline)) int middle(int n) { return leaf(n) + leaf(n + 1); }
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) int sized(int n) {
  char room[n + 16];
  room[n] = (char)n;
  __asm__ volatile("" : : "r"(room) : "memory");
  return middle(n) + room[n];
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 50; i++) {
    sum += middle(i) + sized(i);
  }
  printf("%d\n", sum + fib(10));
  return 0;
}
