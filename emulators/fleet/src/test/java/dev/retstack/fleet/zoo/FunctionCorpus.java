package dev.retstack.fleet.zoo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Draws a C program of many functions whose prologues differ: arguments, locals of all sizes,
 * values that live across calls, alloca, variable lists, aligned locals, structs that are returned.
 * Each is called a number of times that is known, and prints nothing: the program ends with code 0.
 *
 * @param text of the program
 * @param calls of each function, by its name
 */
record FunctionCorpus(String text, Map<String, Long> calls) {
  private static final int[] ROOMS = {
    0, 0, 0, 0, 1, 8, 24, 60, 100, 250, 260, 500, 600, 1000, 2000, 2100, 4000, 4096, 4100, 5000,
    8000, 9000, 20000, 33000, 40000, 66000, 70000
  };

  private static final String HEAD =
      """
      #include <stdarg.h>
      #include <stddef.h>
      #define TRACED __attribute__((noinline, noclone))
      #ifdef __clang__
      #undef TRACED
      #define TRACED __attribute__((noinline))
      #endif
      #ifdef OMIT
      #pragma GCC optimize ("omit-frame-pointer")
      #endif
      #ifdef SMALL
      #define ROOM(n) ((n) > 300 ? 300 : (n))
      #else
      #define ROOM(n) (n)
      #endif
      struct pair { long a, b; };
      struct wide { long v[9]; };
      static volatile long seen;
      static TRACED long mix(long a, long b) { seen++; return a * 31 + b; }
      #ifdef WHOLE
      typedef long real;
      #else
      typedef double real;
      #endif
      static TRACED real half(real a) { seen++; return a / 2; }
      static TRACED long use(volatile char *p) { seen++; return *p; }
      """;

  /** Calls in all. */
  long total() {
    return calls.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Draws one. */
  static FunctionCorpus of(SplittableRandom random, int functions) {
    StringBuilder text = new StringBuilder(HEAD);
    StringBuilder all = new StringBuilder("int main(void) {\n  volatile long one = 1;\n");
    Map<String, Long> calls = new TreeMap<>();
    calls.put("main", 1L);
    for (int i = 0; i < functions; i++) {
      new Function(random, "f_" + i, calls).write(text, all);
    }
    return new FunctionCorpus(text.append(all).append("  return 0;\n}\n").toString(), calls);
  }

  /** One function. */
  private static final class Function {
    private final SplittableRandom random;
    private final String name;
    private final Map<String, Long> calls;
    private final int times;
    private final StringBuilder body = new StringBuilder("  seen++;\n");
    private final List<String> result = new ArrayList<>(List.of("one"));

    Function(SplittableRandom random, String name, Map<String, Long> calls) {
      this.random = random;
      this.name = name;
      this.calls = calls;
      times = 1 + random.nextInt(3);
    }

    private void calls(String callee) {
      calls.merge(callee, (long) times, Long::sum);
    }

    private boolean chance(int percent) {
      return random.nextInt(100) < percent;
    }

    void write(StringBuilder text, StringBuilder all) {
      calls.put(name, (long) times);
      int arguments = random.nextInt(chance(20) ? 11 : 5);
      boolean variable = chance(10);
      int kind = random.nextInt(10); // of the result
      StringBuilder head = new StringBuilder("long one");
      StringBuilder given = new StringBuilder("one");
      for (int i = 0; i < arguments; i++) {
        argument(i, head, given);
      }
      body();
      if (variable) {
        head.append(", ...");
        given.append(", 3L, 4L");
        body.append(
                "  va_list more; va_start(more, %s); long v = va_arg(more, long);"
                    .formatted(last(arguments)))
            .append(" v += va_arg(more, long); va_end(more);\n");
        result.add("v");
      }
      String type =
          kind == 0
              ? "struct wide"
              : kind == 1 ? "struct pair" : kind == 2 ? "real" : kind == 3 ? "void" : "long";
      String sum = String.join(" + ", result);
      String back =
          switch (kind) {
            case 0 -> "struct wide w = {{0}}; w.v[3] = %s; return w;".formatted(sum);
            case 1 -> "struct pair p2 = {1, 2}; p2.a = %s; return p2;".formatted(sum);
            case 3 -> "seen = (long) (%s);".formatted(sum);
            default -> "return %s;".formatted(sum);
          };
      text.append(
          "%sTRACED %s %s(%s) {\n%s  %s\n}\n"
              .formatted(chance(50) ? "static " : "", type, name, head, body, back));
      for (int i = 0; i < times; i++) {
        all.append("  %s(%s);\n".formatted(name, given));
      }
    }

    private static String last(int arguments) {
      return arguments == 0 ? "one" : "a" + (arguments - 1);
    }

    private void argument(int i, StringBuilder head, StringBuilder given) {
      switch (random.nextInt(6)) {
        case 0 -> {
          head.append(", real a" + i);
          given.append(", 2.0");
          result.add("(long) a" + i);
        }
        case 1 -> {
          head.append(", struct pair a" + i);
          given.append(", (struct pair) {1, one}");
          result.add("a" + i + ".b");
        }
        case 2 -> {
          head.append(", long long a" + i);
          given.append(", 5LL");
          result.add("(long) a" + i);
        }
        default -> {
          head.append(", long a" + i);
          given.append(", one");
          result.add("a" + i);
        }
      }
    }

    private void body() {
      int room = ROOMS[random.nextInt(ROOMS.length)];
      if (room > 0) {
        String aligned =
            chance(15) ? "__attribute__((aligned(%d))) ".formatted(16 << random.nextInt(4)) : "";
        body.append(
            "  %svolatile char room[ROOM(%d)]; room[(one - 1) & %d] = 1;\n"
                .formatted(aligned, room, Math.min(room, 8) - 1));
        result.add("room[0]");
        if (chance(50)) {
          body.append("  long r = use(room);\n");
          calls("use");
          result.add("r");
        }
      }
      int across = chance(40) ? 0 : random.nextInt(chance(30) ? 14 : 4);
      for (int i = 0; i < across; i++) {
        body.append("  long l%d = mix(one, %s);\n".formatted(i, i > 1 ? "l" + (i - 2) : "one"));
        calls("mix");
        result.add("l%d * %d".formatted(i, i + 3));
      }
      int reals = chance(80) ? 0 : random.nextInt(9);
      for (int i = 0; i < reals; i++) {
        body.append("  real d%d = half(%s);\n".formatted(i, i > 0 ? "d" + (i - 1) : "one"));
        calls("half");
        result.add("(long) d" + i);
      }
      if (chance(8)) {
        body.append(
            "  volatile char *some = __builtin_alloca(16 + (one & 31)); some[0] = 1; long s = use(some);\n");
        calls("use");
        result.add("s");
      }
      if (chance(8)) {
        body.append("  volatile char variable[one * 70 + 1]; variable[one] = 1;\n");
        result.add("variable[one]");
      }
      if (chance(5)) {
        body.append("  seen += (long) __builtin_return_address(0) & 0;\n");
      }
      if (chance(5)) {
        body.append("  seen += (long) __builtin_frame_address(0) & 0;\n");
      }
    }
  }
}
