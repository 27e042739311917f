/* Functions that call mcount without a frame: what %rbp names is another's frame, or none at all. Prints a checksum. */
#include <stdio.h>

long words[4] = {1, 2, 3, 4};
int bare(int n), odd(int n);

__asm__(
    ".text\n"
    ".type bare,@function\n"
    "bare: subq $8,%rsp\n"
    "  call mcount\n"
    "  leal 3(%rdi),%eax\n"
    "  addq $8,%rsp\n"
    "  ret\n"
    ".size bare,.-bare\n"
    ".type odd,@function\n"
    "odd: pushq %rbp\n"
    "  leaq words(%rip),%rbp\n"
    "  call mcount\n"
    "  leal 5(%rdi),%eax\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size odd,.-odd\n");

__attribute__((noinline)) int framed(int n) {
  return 2 * n + bare(n) + odd(n);
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 50; i++) {
    sum += framed(i);
  }
  printf("%d %ld %ld %ld %ld\n", sum, words[0], words[1], words[2], words[3]);
  return 0;
}
