package dev.retstack.fleet.loader.dwarf;

import dev.retstack.fleet.loader.GuestCompiler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A small program of two sources and a header in a folder, built with line tables. It begins in a
 * function of its own, so no C library is needed.
 */
final class LinedProgram {
  private static final String MAIN =
      """
      #include "inc/leaf.h"
      int twice(int x);
      static int __attribute__((noinline)) first(int x)
      {
        return leaf(x) + 1;
      }

      int __attribute__((noinline))
      second(int x) { return first(x) * twice(x); }
      #line 700 "made/by \\"hand\\".y"
      int __attribute__((noinline)) made(int x)
      {
        for (int i = 0; i < x; i++)
          x += second(i);
        return x;
      }
      #line 1000 "main.c"
      void _start(void) { made(3); for (;;); }
      """;

  private static final String HEADER =
      """
      static inline int __attribute__((always_inline)) shift(int x) { return x << 2; }
      static int __attribute__((noinline)) leaf(int x)
      {
        return shift(x) ^ 5;
      }
      """;

  private static final String TWICE =
      """
      /* of a unit of its own */
      int helper(int x);

      int twice(int x)
      {
        return helper(x) + x;
      }

      int helper(int x) { return x < 0 ? 0 : x; }
      """;

  private LinedProgram() {}

  /** Builds it; {@code compiler} may be clang for this machine. */
  static Path build(Path folder, String compiler, String... flags)
      throws IOException, InterruptedException {
    Files.createDirectories(folder.resolve("src/inc"));
    Files.createDirectories(folder.resolve("lib"));
    Path main = Files.writeString(folder.resolve("src/main.c"), MAIN);
    Files.writeString(folder.resolve("src/inc/leaf.h"), HEADER);
    Path twice = Files.writeString(folder.resolve("lib/twice.c"), TWICE);
    List<String> all = new ArrayList<>(List.of("-static", "-nostdlib", "-ffreestanding"));
    all.addAll(List.of(flags));
    all.addAll(List.of(main.toString(), twice.toString()));
    return GuestCompiler.compileWith(
        compiler, folder.resolve("program"), all.toArray(String[]::new));
  }
}
