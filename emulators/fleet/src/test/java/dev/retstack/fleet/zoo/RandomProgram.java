package dev.retstack.fleet.zoo;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A C program drawn by chance, in the manner of the zoo ({@code emulators/guest/runtime/zoo.h}), so
 * that the zoo's runtime runs it on every ISA and its native oracle tells its tree.
 *
 * <p>Every function lowers its fuel for what it calls and counts itself against a limit, so the
 * program ends after a bounded number of calls. Its functions make calls directly, by pointer, as
 * jumps, out of frames left by longjmp and with frames of all sizes; arguments and results are
 * words, pairs of words, floats, structs and variable lists; some read their return address, which
 * must be one of the program. Numbers are such that every ISA gets the same: it prints one
 * checksum. No call but a marked one is the last thing that a function does, so that no other can
 * become a jump.
 */
final class RandomProgram {
  /** What the program's file must be named: build.sh has it compiled with jumps for calls. */
  static final String FILE = "tail_random.c";

  /** The name that it is registered by. */
  static final String NAME = "random";

  private enum Shape {
    PLAIN,
    MANY,
    WIDE,
    FLOAT,
    STRUCT,
    VARIADIC,
    APPLY,
    JUMPER,
    LEAPER,
    TAIL,
    TAIL_POINTER,
    LEAF
  }

  private static final int[] STRUCT_WORDS = {1, 2, 3, 4, 7, 16};
  private static final int PLACES = 6;
  private static final String GUARD =
      "  if (fuel <= 0 || random_spent >= random_limit) return %s;\n  random_spent++;\n";

  private static final String PREAMBLE =
      """
      #include "zoo.h"

      #include <stdarg.h>

      HELPER unsigned mix(unsigned x, unsigned r) { return ((x ^ r) << 5 | (x ^ r) >> 27) * 2654435761u + 1u; }

      typedef unsigned plain_function(unsigned, int);
      static plain_function *const random_table[8];
      static int random_spent, random_limit, random_places;
      static zoo_jmp_buf random_place[%d];
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
      """
          .formatted(PLACES);

  private static final Pattern HEAD =
      Pattern.compile("^(?:TRACED .*?(random_\\d+)\\(|ZOO_PROGRAM\\()");

  private final SplittableRandom random;
  private final List<Shape> shapes = new ArrayList<>();
  private final int[] words;
  private final StringBuilder text = new StringBuilder();

  private RandomProgram(SplittableRandom random) {
    this.random = random;
    int functions = random.nextInt(6, 40);
    shapes.add(Shape.LEAF);
    shapes.add(Shape.PLAIN);
    shapes.add(Shape.TAIL);
    while (shapes.size() < functions) {
      shapes.add(Shape.values()[random.nextInt(Shape.values().length)]);
    }
    words =
        shapes.stream().mapToInt(_ -> STRUCT_WORDS[random.nextInt(STRUCT_WORDS.length)]).toArray();
  }

  /** The text of a program. */
  static String of(SplittableRandom random) {
    return new RandomProgram(random).generate();
  }

  /**
   * The functions of a program that read their return address.
   *
   * @param jumpsByPointer what {@code TAIL_POINTER} is
   */
  static Set<String> readers(String text, boolean jumpsByPointer) {
    Set<String> readers = new TreeSet<>();
    String function = "";
    boolean isCompiled = true;
    for (String line : text.lines().toList()) {
      isCompiled =
          switch (line) {
            case "#if TAIL_POINTER" -> jumpsByPointer;
            case "#else" -> !isCompiled;
            case "#endif" -> true;
            default -> isCompiled;
          };
      Matcher head = HEAD.matcher(line);
      if (head.find()) {
        function = head.group(1) == null ? "run_" + NAME : head.group(1);
      } else if (isCompiled && line.contains(" IS_TRUE_RETURN()") && !function.isEmpty()) {
        readers.add(function);
      }
    }
    return readers;
  }

  private String generate() {
    text.append(PREAMBLE);
    for (int size : STRUCT_WORDS) {
      text.append("struct words%d { unsigned word[%d]; };\n".formatted(size, size));
    }
    text.append("struct numbers { number a, b; };\n");
    IntStream.range(0, shapes.size()).forEach(i -> text.append(head(i)).append(";\n"));
    int[] plain =
        IntStream.range(0, shapes.size()).filter(i -> signature(i) == Shape.PLAIN).toArray();
    text.append(
        "static plain_function *const random_table[8] = {%s};\n"
            .formatted(
                IntStream.range(0, 8)
                    .mapToObj(_ -> "random_" + plain[random.nextInt(plain.length)])
                    .collect(Collectors.joining(", "))));
    for (int i = 0; i < shapes.size(); i++) {
      text.append('\n').append("TRACED ").append(head(i)).append(" {\n");
      body(i);
      text.append("}\n");
    }
    main();
    return text.toString();
  }

  /** All that take and give a word are called alike. */
  private Shape signature(int i) {
    return switch (shapes.get(i)) {
      case PLAIN, JUMPER, LEAPER, TAIL, TAIL_POINTER, LEAF -> Shape.PLAIN;
      case MANY, WIDE, FLOAT, STRUCT, VARIADIC, APPLY -> shapes.get(i);
    };
  }

  private String head(int i) {
    String name = "random_" + i;
    return switch (signature(i)) {
      case MANY ->
          "unsigned %s(unsigned x, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned g, unsigned h, unsigned i, int fuel)"
              .formatted(name);
      case WIDE -> "unsigned long long %s(unsigned long long w, int fuel)".formatted(name);
      case FLOAT -> "number %s(number d, unsigned x, int fuel)".formatted(name);
      case STRUCT ->
          words[i] == 2
              ? "struct numbers %s(struct numbers v, int fuel)".formatted(name)
              : "struct words%d %s(struct words%d v, int fuel)".formatted(words[i], name, words[i]);
      case VARIADIC -> "unsigned %s(int fuel, int count, ...)".formatted(name);
      case APPLY -> "unsigned %s(plain_function *f, unsigned x, int fuel)".formatted(name);
      default -> "unsigned %s(unsigned x, int fuel)".formatted(name);
    };
  }

  private void body(int i) {
    switch (shapes.get(i)) {
      case LEAF -> add("  return mix(x, %s + (unsigned)fuel);".formatted(constant()));
      case PLAIN -> ordinary("x", "return x ^ %s;".formatted(constant()));
      case MANY -> ordinary("x", "return x ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i;");
      case WIDE -> wide();
      case FLOAT -> ordinary("d", "return NUMBER(x) + NUMBER(UNSIGNED(d));");
      case STRUCT -> struct(i);
      case VARIADIC -> variadic();
      case APPLY -> apply();
      case JUMPER -> jumper();
      case LEAPER -> leaper();
      case TAIL -> tail("random_" + plain(i));
      case TAIL_POINTER -> tailPointer();
    }
  }

  private void ordinary(String whenSpent, String end) {
    text.append(GUARD.formatted(whenSpent));
    boolean room = room();
    statements(random.nextInt(1, 5));
    if (room) {
      add("  x ^= room[x & 15];");
    }
    add("  %s".formatted(end));
  }

  private void wide() {
    text.append(GUARD.formatted("w"));
    add("  unsigned x = (unsigned)(w >> 32);");
    statements(random.nextInt(1, 4));
    add("  return (w << 7 | w >> 57) ^ ((unsigned long long)x << 13);");
  }

  private void struct(int i) {
    text.append(GUARD.formatted("v"));
    if (words[i] == 2) {
      add("  unsigned x = UNSIGNED(v.a);");
      statements(random.nextInt(1, 4));
      add("  v.b = NUMBER(x);");
    } else {
      add("  unsigned x = v.word[0];");
      statements(random.nextInt(1, 4));
      add("  v.word[x & %d] ^= x;".formatted(Integer.highestOneBit(words[i]) - 1));
    }
    add("  return v;");
  }

  private void variadic() {
    text.append(GUARD.formatted("0"));
    add("  unsigned x = 0;");
    add("  va_list rest;");
    add("  va_start(rest, count);");
    add("  for (int i = 0; i < count; i++) {");
    add("    x = mix(x, va_arg(rest, unsigned));");
    add("    x = mix(x, UNSIGNED(va_arg(rest, number)));");
    statements(1);
    add("  }");
    add("  va_end(rest);");
    add("  return x;");
  }

  private void apply() {
    text.append(GUARD.formatted("x"));
    int times = random.nextInt(1, 4);
    add("  for (unsigned i = 0; i < %d; i++) {".formatted(times));
    add("    unsigned r = f(x + i, fuel - %d);".formatted(times));
    add("    x = mix(x, r);");
    add("  }");
    statements(random.nextInt(2));
    add("  return x;");
  }

  /** The place is given up at the end, or at once when it was jumped to. */
  private void jumper() {
    text.append(GUARD.formatted("x"));
    boolean again = random.nextBoolean();
    add("  volatile unsigned kept = x;");
    add("  volatile int left = fuel, mine = random_places;");
    add("  if (mine < %d) {".formatted(PLACES));
    add("    random_places = mine + 1;");
    add("    int value = zoo_setjmp(&random_place[mine]);");
    add("    if (value != 0) {");
    add("      kept = kept + (unsigned)value;");
    add("      left = left / 2;");
    add("      random_places = mine%s;".formatted(again ? " + 1" : ""));
    add("    }");
    add("    { unsigned x = kept; int fuel = left;");
    statements(random.nextInt(1, 4));
    add("      kept = x; }");
    add("    random_places = mine;");
    add("  }");
    add("  { unsigned x = kept; int fuel = left;");
    statements(random.nextInt(2));
    add("    return x + (unsigned)fuel; }");
  }

  private void leaper() {
    text.append(GUARD.formatted("x"));
    boolean room = room();
    if (random.nextBoolean()) {
      statements(1);
    }
    add("  int to = (int)(x >> %d) & 7;".formatted(random.nextInt(20)));
    add("  if (to < random_places) zoo_longjmp(&random_place[to], 1 + (int)(x & 15));");
    statements(random.nextInt(2));
    add("  return x ^ %s;".formatted(room ? "room[1]" : constant()));
  }

  private void tail(String callee) {
    text.append(GUARD.formatted("x"));
    boolean room = room();
    statements(random.nextInt(3));
    if (room) {
      add("  x ^= room[x & 15];");
    }
    if (random.nextInt(3) == 0) {
      add("  if (x & %d) {".formatted(1 << random.nextInt(8)));
      statements(1);
      add("    return x + 3u;");
      add("  }");
    }
    add("  return TAIL_CALL(%s(x ^ %s, fuel - 1));".formatted(callee, constant()));
  }

  private void tailPointer() {
    add("#if TAIL_POINTER");
    tail("random_table[x & 7]");
    add("#else");
    ordinary("x", "return x + 1u;");
    add("#endif");
  }

  /** A frame bigger than its neighbours; the compiler may not leave it out. */
  private boolean room() {
    if (random.nextInt(4) != 0) {
      return false;
    }
    int size = 16 << random.nextInt(5);
    add("  volatile unsigned room[%d];".formatted(size));
    add("  for (unsigned i = 0; i < %d; i++) room[i] = x + i;".formatted(size));
    return true;
  }

  private void statements(int count) {
    for (int s = 0; s < count; s++) {
      switch (random.nextInt(7)) {
        case 3 -> {
          add("  x = mix(x, IS_TRUE_RETURN());");
          call();
        }
        case 0 -> {
          add("  if (x & %d) {".formatted(1 << random.nextInt(16)));
          call();
          add("  } else {");
          call();
          add("  }");
        }
        case 1 -> {
          int times = random.nextInt(2, 5);
          add("  for (int n = 0; n < %d; n++) {".formatted(times));
          add("    x += (unsigned)n;");
          call();
          add("  }");
        }
        case 2 -> {
          add("  {");
          add(
              "    unsigned r = random_table[(x >> %d) & 7](x, fuel - %d);"
                  .formatted(random.nextInt(28), random.nextInt(1, 4)));
          add("    x = mix(x, r);");
          add("  }");
        }
        default -> call();
      }
    }
  }

  /** One call of any function, its result mixed into x. */
  private void call() {
    int to = random.nextInt(shapes.size());
    String name = "random_" + to;
    String fuel = random.nextInt(4) == 0 ? "fuel / 2" : "fuel - " + random.nextInt(1, 3);
    add("  {");
    switch (signature(to)) {
      case MANY ->
          add(
              "    unsigned r = %s(x, %s, x + 1u, 3u, x ^ 5u, 6u, x, 8u, %s, %s);"
                  .formatted(name, constant(), constant(), fuel));
      case WIDE -> {
        add(
            "    unsigned long long w = %s((unsigned long long)x << 32 | %s, %s);"
                .formatted(name, constant(), fuel));
        add("    unsigned r = (unsigned)(w >> 32) ^ (unsigned)w;");
      }
      case FLOAT ->
          add("    unsigned r = UNSIGNED(%s(NUMBER(x), x + 2u, %s));".formatted(name, fuel));
      case STRUCT -> struct(name, words[to], fuel);
      case VARIADIC -> {
        int count = random.nextInt(5);
        String rest =
            IntStream.range(0, count)
                .mapToObj(i -> ", x + %du, NUMBER(x >> %d)".formatted(i, i))
                .collect(Collectors.joining());
        add("    unsigned r = %s(%s, %d%s);".formatted(name, fuel, count, rest));
      }
      case APPLY -> add("    unsigned r = %s(random_%d, x, %s);".formatted(name, plain(to), fuel));
      default -> add("    unsigned r = %s(x ^ %s, %s);".formatted(name, constant(), fuel));
    }
    add("    x = mix(x, r);");
    add("  }");
  }

  private void struct(String name, int words, String fuel) {
    if (words == 2) {
      add("    struct numbers v = {NUMBER(x), NUMBER(x >> 16)};");
      add("    v = %s(v, %s);".formatted(name, fuel));
      add("    unsigned r = UNSIGNED(v.a) ^ UNSIGNED(v.b);");
    } else {
      add("    struct words%d v;".formatted(words));
      add("    for (unsigned i = 0; i < %d; i++) v.word[i] = x ^ i;".formatted(words));
      add("    v = %s(v, %s);".formatted(name, fuel));
      add("    unsigned r = v.word[0] ^ v.word[%d];".formatted(words - 1));
    }
  }

  private void main() {
    add("ZOO_PROGRAM(%s, 0) {".formatted(NAME));
    add("  unsigned x = %s ^ (unsigned)argument;".formatted(constant()));
    for (int round = random.nextInt(2, 7); round > 0; round--) {
      add("  random_spent = 0, random_limit = %d;".formatted(1 << random.nextInt(4, 10)));
      add("  {");
      add("    int fuel = %d;".formatted(random.nextInt(5) == 0 ? 300 : random.nextInt(2, 30)));
      statements(random.nextInt(1, 4));
      add("  }");
    }
    add("  char line[9];");
    add("  for (int i = 0; i < 8; i++) line[i] = \"0123456789abcdef\"[x >> (28 - 4 * i) & 15];");
    add("  line[8] = '\\n';");
    add("  zoo_write(1, line, 9);");
    add("  return 0;");
    add("}");
  }

  /** A function that takes and gives a word; a jump to oneself would become a loop. */
  private int plain(int butNot) {
    return IntStream.generate(() -> random.nextInt(shapes.size()))
        .filter(i -> i != butNot && signature(i) == Shape.PLAIN)
        .findFirst()
        .orElseThrow();
  }

  private String constant() {
    return "0x%xu".formatted(random.nextInt());
  }

  private void add(String line) {
    text.append(line).append('\n');
  }
}
