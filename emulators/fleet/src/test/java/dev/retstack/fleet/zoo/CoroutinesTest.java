package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.TaskPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Several stacks in one program: glibc's swapcontext, and jumps on and off them. {@code
 * -Dretstack.seeds=N} runs N seeds, longer programs and more conventions.
 */
class CoroutinesTest {
  private static final int COROUTINES = 9;

  private static final Map<String, LoadedImage> COMPILED = new HashMap<>();

  @TempDir static Path folder;

  private LoadedImage compile(String compiler, String flags)
      throws IOException, InterruptedException {
    return compile("coroutines.c", compiler, flags);
  }

  private LoadedImage compile(String program, String compiler, String flags)
      throws IOException, InterruptedException {
    String key = String.join(" ", program, compiler, flags);
    LoadedImage known = COMPILED.get(key);
    if (known != null) {
      return known;
    }
    try (InputStream source =
        CoroutinesTest.class.getResourceAsStream("/dev/retstack/fleet/contexts/" + program)) {
      Files.copy(source, folder.resolve(program), StandardCopyOption.REPLACE_EXISTING);
    }
    GuestCompiler gcc = GuestCompiler.valueOf(compiler).assumeInstalled();
    Path object = folder.resolve("coroutines.o");
    String code = folder.resolve(program).toString();
    String[] words = (flags + " -O2 -w -fno-inline -c " + code).split(" ");
    gcc.compile(object, words);
    LoadedImage image =
        LoadedImage.load(gcc.compile(folder.resolve("run"), "-static", object.toString()));
    COMPILED.put(key, image);
    return image;
  }

  @ParameterizedTest
  @CsvSource({
    "X86_64, -pg",
    "X86_64, -pg -mfentry",
    "X86_64, -fpatchable-function-entry=5",
    "AARCH64, -pg",
    "RISCV64, -pg -fno-omit-frame-pointer"
  })
  void everyCoroutineIsATaskAndNoReturnAddressIsLost(String compiler, String flags)
      throws IOException, InterruptedException {
    LoadedImage image = compile(compiler, flags);
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {});
    Run java = Run.of(image, options(ProbeKind.JAVA), 1_000_000, core -> {});
    Run inC = Run.of(image, options(ProbeKind.NATIVE), 1_000_000, core -> {});
    assertThat(java.ending()).isEqualTo(untraced.ending());
    assertThat(java.output()).isEqualTo(untraced.output()).isNotEmpty();
    assertThat(inC.ending()).isEqualTo(untraced.ending());
    Records.assertSame(java, inC);
    assertThat(java.unhijackable()).isZero();
    checkTasks(java);
    alsoWhereverTheyStop(image, java.records());
  }

  /** Calls, and nops at which the core is stopped; in the long form both on each ISA. */
  static Stream<Arguments> oneConventionOfEachIsa() {
    Stream<Arguments> one =
        Stream.of(
            Arguments.of("X86_64", "-pg"),
            Arguments.of("AARCH64", "-fpatchable-function-entry=2"),
            Arguments.of("RISCV64", "-pg -fno-omit-frame-pointer"));
    Stream<Arguments> others =
        Stream.of(
            Arguments.of("X86_64", "-pg -mfentry"),
            Arguments.of("X86_64", "-fpatchable-function-entry=5"),
            Arguments.of("AARCH64", "-pg"),
            Arguments.of("RISCV64", "-fpatchable-function-entry=4"));
    return Seeds.MANY ? Stream.concat(one, others) : one;
  }

  /**
   * Stacks in locals of open frames and of other coroutines: addresses do not tell them apart, and
   * what is taken for dead returns. A program that is traced does what it does untraced.
   */
  @ParameterizedTest
  @MethodSource("oneConventionOfEachIsa")
  void noReturnAddressIsForgottenWhereverAStackLies(String compiler, String flags)
      throws IOException, InterruptedException {
    LoadedImage image = compile("stacks.c", compiler, flags);
    long first = Seeds.fresh();
    int seeds = Integer.getInteger("retstack.seeds", 1);
    for (int i = 0; i < seeds; i++) {
      String seed = String.valueOf((first + i) & 0x7fff_ffff);
      String sharing = String.valueOf((i + 1) % 3 * 3);
      String[] arguments = {seed, i % 2 == 0 ? "300" : "1500", sharing};
      isTheSameTraced(image, arguments);
    }
  }

  /**
   * Stacks that are copied out of one place and into it again: what the words there say is that of
   * another coroutine each time. A word that is the tracer's must say by itself where it leads.
   */
  @ParameterizedTest
  @MethodSource("oneConventionOfEachIsa")
  void stacksThatAreCopiedGoOnWhereTheyWere(String compiler, String flags)
      throws IOException, InterruptedException {
    LoadedImage image = compile("copied.c", compiler, flags);
    String seed = String.valueOf(Seeds.fresh() & 0x7fff_ffff);
    isTheSameTraced(image, "3", "300", seed);
    isTheSameTraced(image, Seeds.MANY ? "200" : "60", Seeds.MANY ? "2000" : "400", seed);
  }

  /** Return addresses on the stack, and in a register at the function's entry. */
  static Stream<Arguments> someConventions() {
    Stream<Arguments> some =
        Stream.of(
            Arguments.of("X86_64", "-pg"), Arguments.of("AARCH64", "-fpatchable-function-entry=2"));
    Stream<Arguments> others =
        Stream.of(
            Arguments.of("AARCH64", "-pg"),
            Arguments.of("RISCV64", "-fpatchable-function-entry=4"));
    return Seeds.MANY ? Stream.concat(some, others) : some;
  }

  /** Frames so large that nobody knows where a return address that was in a register lies. */
  @ParameterizedTest
  @MethodSource("someConventions")
  void framesOfMegabytesReturn(String compiler, String flags)
      throws IOException, InterruptedException {
    isTheSameTraced(compile("far.c", compiler, flags), "40000");
  }

  /** Output and ending are those of the program untraced, by both probes. */
  private static void isTheSameTraced(LoadedImage image, String... arguments) {
    CoreOptions bare = Run.options().withInstructionLimit(50_000_000);
    Run untraced = Run.of(image, bare.withTraced(false), 1_000_000, core -> {}, arguments);
    assertThat(untraced.ending().exitCode()).as("%s", List.of(arguments)).isZero();
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run run = Run.of(image, bare.withProbe(probe), 777_777, core -> {}, arguments);
      String what = probe + " " + List.of(arguments);
      assertThat(run.ending()).as(what).isEqualTo(untraced.ending());
      assertThat(run.output()).as(what).isEqualTo(untraced.output());
    }
  }

  /**
   * Many that nobody comes back to, and at the end some that were there before all of them. The
   * long form: {@code -Dretstack.abandoned=1000000} or {@code -Dretstack.seeds=N}.
   */
  @ParameterizedTest
  @MethodSource("someConventions")
  void thoseThatAreAbandonedAreCountedAndTheOthersReturn(String compiler, String flags)
      throws IOException, InterruptedException {
    LoadedImage image = compile("abandoned.c", compiler, flags);
    String many = System.getProperty("retstack.abandoned", "8000");
    String seed = String.valueOf(Seeds.fresh() & 0x7fff_ffff);
    CoreOptions bare = Run.options();
    Run untraced = Run.withoutRecords(image, bare.withTraced(false), many, seed);
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run run = Run.withoutRecords(image, bare.withProbe(probe), many, seed);
      assertThat(run.ending()).as("%s, seed %s", probe, seed).isEqualTo(untraced.ending());
      assertThat(run.output()).as("%s, seed %s", probe, seed).isEqualTo(untraced.output());
      assertThat(run.abandoned()).as("%s, seed %s", probe, seed).isPositive();
    }
  }

  private static CoreOptions options(ProbeKind probe) {
    return Run.options().withProbe(probe);
  }

  private static void alsoWhereverTheyStop(LoadedImage image, RecordBatch records) {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      CoreOptions options =
          options(probe).withRecordsPerChunk(1 + random.nextInt(1 << random.nextInt(1, 12)));
      Run run =
          Run.withoutKeyframes(
              image, options, core -> 1 + random.nextInt(1 << random.nextInt(1, 14)));
      Records.assertSame("one slice", records, probe + ", -Dretstack.seed=" + seed, run.records());
    }
  }

  /** Against what the program counted itself, and call by call. */
  private static void checkTasks(Run run) {
    RecordBatch records = run.records();
    Map<Long, Map<Integer, Long>> open = new HashMap<>();
    Map<Long, Long> entries = new LinkedHashMap<>();
    long task = 0;
    entries.put(task, 0L);
    int switches = 0;
    for (int i = 0; i < records.size(); i++) {
      int depth = records.depth[i];
      switch (records.kind[i]) {
        case RecordBatch.TASK -> {
          task = records.selfPc[i];
          assertThat(records.fromPc[i]).isEqualTo(entries.containsKey(task) ? 1 : 2);
          entries.putIfAbsent(task, 0L);
          switches++;
        }
        case RecordBatch.ENTRY -> {
          entries.merge(task, 1L, Long::sum);
          open.computeIfAbsent(task, t -> new HashMap<>()).put(depth, records.selfPc[i]);
        }
        case RecordBatch.EXIT -> assertThat(open.get(task).get(depth)).isEqualTo(records.selfPc[i]);
        default -> throw new AssertionError("record " + i + " of kind " + records.kind[i]);
      }
    }
    assertThat(switches).isGreaterThan(200);
    List<Long> expected =
        run.output().lines().map(line -> Long.valueOf(line.split(" ", -1)[1])).toList();
    assertThat(expected).hasSize(COROUTINES + 1);
    assertThat(entries.get(0L)).isEqualTo(expected.getLast());
    assertThat(entries.values().stream().skip(1))
        .containsExactlyInAnyOrderElementsOf(expected.subList(0, COROUTINES));
    assertThat(entries.keySet()).hasSize(COROUTINES + 1);
  }

  @ParameterizedTest
  @CsvSource({"JAVA, 3, ''", "NATIVE, 3, ''", "JAVA, '', 0", "NATIVE, '', 0", "NATIVE, 0, ''"})
  void onlyTasksThatAreMeantLeaveRecords(ProbeKind probe, String tasks, String notasks)
      throws IOException, InterruptedException {
    LoadedImage image = compile("X86_64", "-pg -mfentry");
    TraceSettings some =
        TraceSettings.standard().withTasks(patterns(tasks)).withNotasks(patterns(notasks));
    for (Tracer tracer : List.of(Tracer.FUNCTION_GRAPH, Tracer.FUNCTION)) {
      Run whole = Run.of(image, options(probe), 1_000_000, core -> {});
      CoreOptions options = options(probe).withTrace(some.withTracer(tracer));
      Run run = Run.of(image, options, 1_000_000, core -> {});
      assertThat(run.output()).isEqualTo(whole.output());
      List<String> expected = calls(whole.records(), some, tracer);
      assertThat(expected).isNotEmpty();
      assertThat(calls(run.records(), TraceSettings.standard(), tracer)).isEqualTo(expected);
    }
  }

  private static List<TaskPattern> patterns(String texts) {
    return texts.isEmpty() ? List.of() : List.of(TaskPattern.parse(texts));
  }

  /** Entries and exits, or entries alone, of the tasks that are meant. */
  private static List<String> calls(RecordBatch records, TraceSettings settings, Tracer tracer) {
    List<String> calls = new ArrayList<>();
    long task = 0;
    for (int i = 0; i < records.size(); i++) {
      int kind = records.kind[i];
      task = kind == RecordBatch.TASK ? records.selfPc[i] : task;
      boolean entry = kind == RecordBatch.ENTRY || kind == RecordBatch.FUNCTION;
      boolean exit = kind == RecordBatch.EXIT && tracer == Tracer.FUNCTION_GRAPH;
      if ((entry || exit) && settings.selectsTask(task, "")) {
        calls.add(
            "%d %s %d %x"
                .formatted(task, entry ? "in" : "out", records.time[i], records.selfPc[i]));
      }
    }
    return calls;
  }
}
