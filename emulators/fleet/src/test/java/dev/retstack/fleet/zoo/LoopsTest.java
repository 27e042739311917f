package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Loops drawn by chance, in which a program waits for a tick, a signal or another thread: each can
 * be interrupted, wherever the compiler put it behind the call site, and every probe, slice and
 * setting interrupts it at the same place.
 *
 * <p>{@code -Dretstack.seed=S} repeats a program, {@code -Dretstack.seeds=N} draws N of them,
 * {@code -Dretstack.variants=N} compiles each for N conventions.
 */
class LoopsTest {
  private static final List<String> LEVELS = List.of("O0", "O1", "O2", "O3", "Os", "Og");
  private static final int VARIANTS = 4;
  private static final long LIMIT = 3_000_000;

  @TempDir private Path folder;

  /** Functions that wait until {@code ready}, and {@code all()}, which calls each of them. */
  private static String loops(SplittableRandom random, String mark, String before) {
    StringBuilder text = new StringBuilder();
    StringBuilder all = new StringBuilder("static void all(void) {\n");
    int functions = random.nextInt(4, 9);
    for (int i = 0; i < functions; i++) {
      String body = body(random);
      text.append(
          switch (random.nextInt(6)) {
            case 0 -> "%s void wait_%d(void) { while (!ready) { %s} }\n".formatted(mark, i, body);
            case 1 ->
                "%s void wait_%d(void) { do { %s} while (!ready); }\n".formatted(mark, i, body);
            case 2 ->
                "%s void wait_%d(void) { for (;;) { if (ready) return; %s} }\n"
                    .formatted(mark, i, body);
            case 3 ->
                "%s void wait_%d(void) { for (;;) { %sleaf(); if (ready) return; } }\n"
                    .formatted(mark, i, body);
            case 4 ->
                "%s void wait_%d(void) { if (ready) return; %swait_%d(); }\n"
                    .formatted(mark, i, body, i);
            default ->
                """
                %1$s void wait_%2$d(void);
                %1$s void other_%2$d(void) { %3$swait_%2$d(); }
                %1$s void wait_%2$d(void) { if (ready) return; other_%2$d(); }
                """
                    .formatted(mark, i, body);
          });
      all.append("  ready = 0; %swait_%d();\n".formatted(before, i));
    }
    return text.append(all).append("}\n").toString();
  }

  private static String body(SplittableRandom random) {
    StringBuilder body = new StringBuilder();
    for (int i = random.nextInt(4); i > 0; i--) {
      body.append("spent++; ");
    }
    return body.toString();
  }

  private static String firmware(SplittableRandom random) {
    return """
        #include "zoo.h"
        static volatile int ready, spent, ticks;
        TRACED unsigned long tick(unsigned long frame, unsigned long number) {
          (void)number;
          if (++ticks %% %d == 0) ready = 1;
          return frame;
        }
        TRACED void leaf(void) { spent++; }
        %s
        ZOO_PROGRAM(loops, 0) { (void)argument; all(); return 0; }
        """
        .formatted(1 + random.nextInt(3), loops(random, "TRACED", ""));
  }

  private static String hosted(SplittableRandom random) {
    return """
        #include <pthread.h>
        #include <signal.h>
        #include <sys/time.h>
        #define TRACED __attribute__((noinline, noclone))
        static volatile int ready, spent, asked, over, by_signal;
        TRACED void leaf(void) { spent++; }
        TRACED void alarmed(int number) { ready = number; }
        TRACED void ask(void) {
          if (by_signal) setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 50}}, 0);
          else asked = 1;
        }
        %s
        TRACED void *answers(void *n) {
          while (!over) {
            while (!asked && !over) ;
            asked = 0;
            ready = 1;
          }
          return n;
        }
        int main(void) {
          pthread_t thread;
          pthread_create(&thread, 0, answers, 0);
          all();
          over = 1;
          pthread_join(thread, 0);
          signal(SIGALRM, alarmed);
          by_signal = 1;
          all();
        }
        """
        .formatted(loops(random, "TRACED", "ask(); "));
  }

  @Test
  void everyLoopOfFirmwareGetsItsTicks() throws Exception {
    assumeTrue(GuestCompiler.installed("gcc"), "skipped: no gcc");
    long first = Seeds.fresh();
    System.out.println("LoopsTest: -Dretstack.seed=" + first);
    int images = 0;
    for (long seed = first; seed < first + Integer.getInteger("retstack.seeds", 1); seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Path of = Files.createDirectory(folder.resolve("s" + seed));
      Files.writeString(of.resolve("tail_loops.c"), firmware(random));
      List<String> variants = new ArrayList<>(RandomProgramsTest.variants());
      int wanted = Integer.getInteger("retstack.variants", VARIANTS);
      for (int i = 0; i < wanted && !variants.isEmpty(); i++) {
        String variant = variants.remove(random.nextInt(variants.size()));
        boolean built = ticks(of, variant, level(random), random, seed);
        images += built ? 1 : 0;
        i -= built ? 0 : 1;
      }
    }
    assertThat(images).isPositive();
  }

  private static String level(SplittableRandom random) {
    return LEVELS.get(random.nextInt(LEVELS.size()));
  }

  /** False where there is no compiler, or no such form. */
  private static boolean ticks(
      Path folder, String variant, String level, SplittableRandom random, long seed)
      throws IOException, InterruptedException {
    boolean named = !level.equals("Og");
    String form = variant + "-" + (named ? level : "O1");
    String said =
        GuestScript.build(
            Zoo.GUEST,
            Map.of("ZOO_FLAGS", named ? "-w" : "-w -Og"),
            List.of("--sources", folder.toString(), form));
    if (!said.startsWith("built: ")) {
      return false;
    }
    LoadedImage image = LoadedImage.load(folder.resolve("zoo-" + form + ".elf"));
    CoreOptions options =
        Run.options()
            .withTimers(List.of(new InterruptTimer(100 + random.nextInt(300), "tick")))
            .withInstructionLimit(LIMIT);
    same(
        image,
        options,
        random,
        "-Dretstack.seed=%d %s-%s".formatted(seed, variant, level),
        "loops");
    return true;
  }

  /** Compilers with a C library that has threads. */
  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-gcc, -pg",
    "x86_64-linux-gnu-gcc, -pg -mfentry",
    "x86_64-linux-gnu-gcc, -pg -mfentry -fcf-protection=none -fno-pie -no-pie",
    "x86_64-linux-gnu-gcc, -fpatchable-function-entry=5",
    "x86_64-linux-gnu-gcc, -m32 -pg -static",
    "aarch64-linux-gnu-gcc, -pg",
    "riscv64-linux-gnu-gcc, -pg -static",
    "arm-linux-gnueabihf-gcc, -pg -static",
    "s390x-linux-gnu-gcc, -pg -mfentry",
    "powerpc64le-linux-gnu-gcc, -pg -static",
  })
  void everyLoopOfAProgramLetsThreadsAndSignalsIn(String compiler, String flags) throws Exception {
    assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    long first = Seeds.fresh();
    for (long seed = first; seed < first + Integer.getInteger("retstack.seeds", 1); seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Path source = Files.writeString(folder.resolve("loops.c"), hosted(random));
      List<String> arguments =
          new ArrayList<>(List.of("-pthread", "-foptimize-sibling-calls", source.toString()));
      arguments.addAll(List.of(flags.split(" ")));
      String level = "-" + level(random);
      arguments.add(level);
      Path program =
          GuestCompiler.compileWith(
              compiler, folder.resolve("loops"), arguments.toArray(String[]::new));
      CoreOptions options =
          Run.options()
              .withSchedule(new Schedule(200 + random.nextInt(500), random.nextInt(9)))
              .withInstructionLimit(LIMIT);
      String again = "-Dretstack.seed=%d %s %s %s".formatted(seed, compiler, flags, level);
      same(LoadedImage.load(program).requireCallSites(), options, random, again);
    }
  }

  /** Nothing leaves such a loop but a handler, or the end of the program by another thread. */
  @ParameterizedTest
  @CsvSource({"-pg -mfentry, 0", "-pg, 0", "-pg, 1", "-fpatchable-function-entry=5, 1"})
  void aJumpToItselfWaits(String flags, int byThread) throws Exception {
    String compiler = "x86_64-linux-gnu-gcc";
    assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path source =
        Files.writeString(
            folder.resolve("waits.c"),
            """
            #include <pthread.h>
            #include <signal.h>
            #include <stdlib.h>
            #include <unistd.h>
            void over(int number) { _exit(number - SIGALRM); }
            void *ends(void *n) { usleep(100); exit(0); }
            void idle(void) { for (;;) ; }
            int main(int argc, char **argv) {
              pthread_t thread;
              signal(SIGALRM, over);
              if (atoi(argv[1])) pthread_create(&thread, 0, ends, 0);
              else ualarm(100, 0);
              idle();
            }
            """);
    List<String> arguments = new ArrayList<>(List.of("-O1", "-pthread", source.toString()));
    arguments.addAll(List.of(flags.split(" ")));
    LoadedImage image =
        LoadedImage.load(
            GuestCompiler.compileWith(
                compiler, folder.resolve("waits"), arguments.toArray(String[]::new)));
    CoreOptions options =
        Run.options().withSchedule(new Schedule(500, 0)).withInstructionLimit(LIMIT);
    same(image, options, new SplittableRandom(byThread), flags, Integer.toString(byThread));
  }

  /** Probes, slices, batches and settings: all run the same, to a good end. */
  private static void same(
      LoadedImage image,
      CoreOptions options,
      SplittableRandom random,
      String again,
      String... arguments) {
    Run java = run(image, options, ProbeKind.JAVA, random, arguments);
    assertThat(java.ending().detail()).as(again).isEqualTo("exited with code 0");
    Run inC = run(image, options, ProbeKind.NATIVE, random, arguments);
    assertThat(inC.ending()).as(again).isEqualTo(java.ending());
    assertThat(inC.instructions()).as(again).isEqualTo(java.instructions());
    try {
      Records.assertSame("Java", java.records(), "C", inC.records());
    } catch (AssertionError e) {
      throw new AssertionError(again, e);
    }
    Map<ProbeKind, CoreEnding> ended = new TreeMap<>();
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      CoreOptions off = options.withTrace(TraceSettings.standard().withOn(false));
      Run run = run(image, off, probe, random, arguments);
      assertThat(run.instructions()).as(again + ", off, " + probe).isEqualTo(java.instructions());
      ended.put(probe, run.ending());
    }
    assertThat(ended.values()).as(again).containsOnly(java.ending());
  }

  private static Run run(
      LoadedImage image,
      CoreOptions options,
      ProbeKind probe,
      SplittableRandom random,
      String... arguments) {
    int records = 1 << random.nextInt(2, 12);
    long slice = 1L + random.nextInt(1 << random.nextInt(4, 20));
    CoreOptions how = options.withProbe(probe).withRecordsPerChunk(records);
    return Run.withoutKeyframes(image, how, core -> slice, arguments);
  }
}
