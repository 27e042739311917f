// main of every zoo image: runs the program that argv[1] names with the number in argv[2], or all of them.
// Not instrumented: the tree of a program starts at its run function.
#include "zoo.h"

extern const struct zoo_program __start_zoo_programs[], __stop_zoo_programs[];

enum { STANDARD_OUTPUT = 1, STANDARD_ERROR = 2, EXIT_USAGE = 126, EXIT_UNKNOWN_PROGRAM = 127 };

static unsigned long length(const char *text) {
  unsigned long count = 0;
  while (text[count] != 0) count++;
  return count;
}

static void print(int file, const char *text) { zoo_write(file, text, length(text)); }

static int equal(const char *left, const char *right) {
  while (*left != 0 && *left == *right) left++, right++;
  return *left == *right;
}

// Reads a decimal number; 0 where the text is none, or none that a long holds.
static int parse(const char *text, long *number) {
  long value = 0;
  if (*text == 0) return 0;
  for (; *text != 0; text++) {
    if (*text < '0' || *text > '9') return 0;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *text - '0', &value)) return 0;
  }
  *number = value;
  return 1;
}

static int run(const struct zoo_program *program, long argument) {
  int code = program->run(argument);
  if (code != 0) {
    char digits[3] = {(char)('0' + code / 10 % 10), (char)('0' + code % 10), 0};
    print(STANDARD_ERROR, "zoo: ");
    print(STANDARD_ERROR, program->name);
    print(STANDARD_ERROR, ": check failed, code ");
    print(STANDARD_ERROR, digits);
    print(STANDARD_ERROR, "\n");
  }
  return code;
}

static int list(void) {
  for (const struct zoo_program *p = __start_zoo_programs; p < __stop_zoo_programs; p++) {
    print(STANDARD_OUTPUT, p->name);
    print(STANDARD_OUTPUT, "\n");
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    for (const struct zoo_program *p = __start_zoo_programs; p < __stop_zoo_programs; p++) {
      int code = run(p, p->argument);
      if (code != 0) return code;
    }
    return 0;
  }
  if (equal(argv[1], "--list")) return list();
  for (const struct zoo_program *p = __start_zoo_programs; p < __stop_zoo_programs; p++) {
    if (!equal(p->name, argv[1])) continue;
    long argument = p->argument;
    if (argc > 2 && !parse(argv[2], &argument)) {
      print(STANDARD_ERROR, "zoo: the argument is not a decimal number\n");
      return EXIT_USAGE;
    }
    return run(p, argument);
  }
  print(STANDARD_ERROR, "zoo: no program named ");
  print(STANDARD_ERROR, argv[1]);
  print(STANDARD_ERROR, "; --list names all\n");
  return EXIT_UNKNOWN_PROGRAM;
}
