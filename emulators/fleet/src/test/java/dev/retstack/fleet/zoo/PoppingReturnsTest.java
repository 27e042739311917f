package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Functions that pop their arguments when they return, in programs drawn by chance: each call has
 * its exit, at the slot of its entry. {@code -Dretstack.seed=S} repeats one, {@code
 * -Dretstack.seeds=N} draws N of them.
 */
class PoppingReturnsTest {
  private static final List<String> CONVENTIONS =
      List.of("stdcall", "fastcall", "thiscall", "regparm(3)", "cdecl", "stdcall");

  @TempDir private Path folder;

  /** Each function calls those below it, one of them last of all: that call may become a jump. */
  private static String program(SplittableRandom random) {
    StringBuilder text =
        new StringBuilder(
            """
            #include "zoo.h"
            struct big { int v[5]; };
            static int calls;
            """);
    int functions = random.nextInt(4, 12);
    List<Integer> arguments = new ArrayList<>();
    for (int i = 0; i < functions; i++) {
      int count = 1 + random.nextInt(random.nextInt(4) == 0 ? 40 : 6);
      arguments.add(count);
      String how = CONVENTIONS.get(random.nextInt(CONVENTIONS.size()));
      String mark = "__attribute__((" + how + "))";
      String list = list("int a%d", count);
      text.append("TRACED %s struct big big_%d(%s) {\n".formatted(mark, i, list))
          .append("  struct big r = {{a0, %d, 2, 3, 4}}; calls++; return r;\n}\n".formatted(i))
          .append(
              "TRACED %s int f_%d(%s) {\n  calls++;\n  int sum = 0;\n".formatted(mark, i, list));
      for (int calls = i == 0 ? 0 : random.nextInt(3); calls > 0; calls--) {
        text.append("  sum += %s;\n".formatted(call(random, arguments, random.nextInt(i), count)));
        text.append("  sum ^= big_%d(%s).v[0];\n".formatted(i, list("a%d", count)));
      }
      text.append(
          i == 0 || random.nextInt(3) == 0
              ? "  return sum + a0 * 3 + %d;\n}\n".formatted(i)
              : "  return %s;\n}\n".formatted(call(random, arguments, random.nextInt(i), count)));
    }
    text.append("ZOO_PROGRAM(pops, 0) {\n  int sum = (int)argument;\n");
    for (int i = 0; i < functions; i++) {
      text.append("  sum += f_%d(%s);\n".formatted(i, list("%d", arguments.get(i))));
    }
    return text.append("  return calls > 0 && sum != 0x12345678 ? 0 : 1;\n}\n").toString();
  }

  private static String list(String form, int count) {
    return IntStream.range(0, count).mapToObj(form::formatted).collect(Collectors.joining(", "));
  }

  private static String call(
      SplittableRandom random, List<Integer> arguments, int callee, int known) {
    return IntStream.range(0, arguments.get(callee))
        .mapToObj(_ -> "a" + random.nextInt(known))
        .collect(Collectors.joining(", ", "f_%d(".formatted(callee), ")"));
  }

  @ParameterizedTest
  @CsvSource({
    "i386-mcount",
    "i386-mcount-pic",
    "i386-fentry",
    "i386-fentry-nop",
    "i386-mcount-nop",
    "i386-patchable",
  })
  void everyCallHasItsExitAtItsSlot(String variant) throws Exception {
    assumeTrue(GuestCompiler.installed("gcc"), "skipped: no gcc");
    long first = Seeds.fresh();
    for (long seed = first; seed < first + Integer.getInteger("retstack.seeds", 1); seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Path of = Files.createDirectory(folder.resolve("s" + seed));
      Files.writeString(of.resolve("tail_pops.c"), program(random));
      for (String level : List.of("O0", "O2", "Os")) {
        check(of, variant + "-" + level, "-Dretstack.seed=" + seed);
      }
    }
  }

  /** By hand: gcc 12 fails on calls of such functions (-mrtd). */
  @Test
  void soHasM68k() throws Exception {
    Files.writeString(
        folder.resolve("pops.c"),
        """
        #include "zoo.h"
        __asm__(
            ".globl pops\\n.type pops,@function\\n"
            "pops: link.w %fp,#0\\n bsr.l _mcount\\n"
            " move.l 8(%fp),%d0\\n add.l 12(%fp),%d0\\n unlk %fp\\n rtd #8\\n"
            ".size pops,.-pops");
        static long call(long a, long b) {
          long sum;
          __asm__ volatile("move.l %2,-(%%sp)\\n move.l %1,-(%%sp)\\n jsr pops\\n move.l %%d0,%0"
                           : "=d"(sum) : "d"(a), "d"(b) : "d0", "d1", "a0", "a1", "memory");
          return sum;
        }
        ZOO_PROGRAM(pops, 0) {
          for (long i = 0; i < 5; i++) CHECK(1, call(i, 7) == i + 7 + argument);
          return 0;
        }
        """);
    check(folder, "m68k-mcount-O1", "");
  }

  private static void check(Path of, String form, String again) throws Exception {
    String said =
        GuestScript.build(
            Zoo.GUEST, Map.of("ZOO_FLAGS", "-w"), List.of("--sources", of.toString(), form));
    assumeTrue(said.startsWith("built: "), said);
    LoadedImage image = LoadedImage.load(of.resolve("zoo-" + form + ".elf"));
    Run java = run(image, ProbeKind.JAVA);
    Run inC = run(image, ProbeKind.NATIVE);
    Records.assertSame(java, inC);
    assertThat(inC.ending().detail()).as("%s %s", form, again).isEqualTo("exited with code 0");
    assertExits(inC.records(), form + " " + again);
  }

  private static Run run(LoadedImage image, ProbeKind probe) {
    return Run.of(image, Run.options().withProbe(probe), 1_000_000, core -> {}, "pops");
  }

  private static void assertExits(RecordBatch records, String again) {
    Map<Integer, Long> slots = new HashMap<>();
    int exits = 0;
    for (int i = 0; i < records.size(); i++) {
      if (records.kind[i] == RecordBatch.ENTRY) {
        slots.put(records.depth[i], records.retP[i]);
      } else if (records.kind[i] == RecordBatch.EXIT) {
        exits++;
        assertThat(records.retP[i])
            .as("%s, record %d", again, i)
            .isEqualTo(slots.remove(records.depth[i]));
      }
    }
    assertThat(exits).as(again).isPositive();
  }
}
