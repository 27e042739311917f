package dev.retstack.machine.testing;

import dev.retstack.machine.loader.elf.ElfFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A small program of two sources and a header in a folder, built with line tables. It begins in a
 * function of its own, so no C library is needed.
 */
public final class LinedProgram {
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

  /** Where its functions are declared. */
  public static final Map<String, String> DECLARED =
      Map.of(
          "first", "main.c:3",
          "second", "main.c:9",
          "made", "by \"hand\".y:700",
          "_start", "main.c:1000",
          "leaf", "leaf.h:2",
          "twice", "twice.c:4",
          "helper", "twice.c:9");

  private LinedProgram() {}

  /** The program as if no section described its functions. */
  public static ElfFile withoutDescriptions(Path program) throws IOException {
    byte[] bytes = Files.readAllBytes(program);
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    String renamed = text.replace("\0.debug_info\0", "\0.debug_none\0");
    return ElfFile.parse(renamed.getBytes(StandardCharsets.ISO_8859_1), "program");
  }

  /** Builds it; {@code compiler} may be clang for this machine. */
  public static Path build(Path folder, String compiler, String... flags)
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
