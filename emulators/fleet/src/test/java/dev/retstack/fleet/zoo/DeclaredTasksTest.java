package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.probe.task.TaskOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.testing.Seeds;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tasks that the image tells: by a variable, by functions that switch and end them. */
class DeclaredTasksTest {
  /** What {@code kernel.c} starts. */
  private static final int STARTS = 40;

  @TempDir Path folder;

  private LoadedImage compile(String program, String compiler, String flags)
      throws IOException, InterruptedException {
    try (InputStream source =
        getClass().getResourceAsStream("/dev/retstack/fleet/contexts/" + program + ".c")) {
      Files.copy(source, folder.resolve(program + ".c"));
    }
    GuestCompiler gcc = GuestCompiler.valueOf(compiler).assumeInstalled();
    Path object = folder.resolve(program + ".o");
    String code = folder.resolve(program + ".c").toString();
    gcc.compile(object, (flags + " -O2 -fno-inline -c " + code).split(" ", -1));
    return LoadedImage.load(gcc.compile(folder.resolve(program), "-static", object.toString()));
  }

  @ParameterizedTest
  @CsvSource({
    "X86_64, -pg, current, ''",
    "X86_64, -pg -mfentry, current, ''",
    "X86_64, -pg -mfentry, '', switch_to:arg2",
    "X86_64, -fpatchable-function-entry=5, '', switch_to:arg2",
    "AARCH64, -pg, current, ''",
    "AARCH64, -fpatchable-function-entry=2, '', switch_to:arg2",
    "RISCV64, -pg -fno-omit-frame-pointer, current, ''",
  })
  void aKernelThatSwitchesInAFunctionOfItsOwn(
      String compiler, String flags, String variable, String switcher)
      throws IOException, InterruptedException {
    LoadedImage image = compile("kernel", compiler, flags);
    TaskOptions tasks =
        new TaskOptions(variable, switcher, List.of("end_task"), List.of("on_interrupt"));
    Run run = bothProbes(image, tasks);
    Counts counts = Counts.of(run.records());
    long main = address(image, "task_main");
    for (String line : run.output().lines().toList()) {
      String[] words = line.split(" ", -1);
      long expected = Long.parseLong(words[1]);
      switch (words[0]) {
        case "main" -> assertThat(counts.calls(main) + counts.calls(0)).isEqualTo(expected);
        case "interrupts" -> {
          assertThat(counts.inInterrupts).isEqualTo(expected);
          assertThat(counts.interrupts).isEqualTo(Integer.parseInt(words[2]));
        }
        default -> assertThat(counts.calls(Long.decode(words[0]))).as(line).isEqualTo(expected);
      }
    }
    assertThat(counts.event(TaskEvent.ENDED)).isEqualTo(STARTS);
    assertThat(counts.event(TaskEvent.STARTED)).isBetween(STARTS, STARTS + 1);
  }

  @ParameterizedTest
  @CsvSource({
    "X86_64, -pg",
    "X86_64, -fpatchable-function-entry=5",
    "AARCH64, -pg",
    "RISCV64, -pg -fno-omit-frame-pointer"
  })
  void aVariableThatIsANumber(String compiler, String flags)
      throws IOException, InterruptedException {
    LoadedImage image = compile("coroutines", compiler, flags);
    Run run = bothProbes(image, new TaskOptions("turn", "", List.of(), List.of()));
    Counts counts = Counts.of(run.records());
    for (String line : run.output().lines().toList()) {
      String[] words = line.split(" ", -1);
      assertThat(counts.calls(Long.parseLong(words[0])))
          .as(line)
          .isEqualTo(Long.parseLong(words[1]));
    }
  }

  static Stream<String> kernels() throws IOException {
    return RtosTest.images();
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void eachTaskOfThePreemptiveKernelHasItsTreeByItsName(String file) throws IOException {
    LoadedImage image = RtosTest.image(file);
    TaskOptions tasks = new TaskOptions("rtos_current", "", List.of(), List.of(RtosTest.HANDLER));
    CoreOptions options = RtosTest.options().withTasks(tasks);
    Run run = sameByBoth(image, options, "rtos");
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    assertThat(trees(image, run)).isEqualTo(expectedTrees());
  }

  private static Map<String, List<String>> expectedTrees() throws IOException {
    Map<String, List<String>> text = new LinkedHashMap<>();
    List<String> lines = List.of();
    for (String line : Files.readAllLines(RtosTest.RTOS.resolve("rtos.trees"))) {
      if (line.startsWith("task ")) {
        lines = new ArrayList<>();
        text.put(line.substring("task ".length()), lines);
      } else {
        lines.add(line.substring(2));
      }
    }
    Map<String, List<String>> trees = new TreeMap<>();
    text.forEach((task, tree) -> trees.put(task, TreeText.parse(tree).lines()));
    return trees;
  }

  /** By the names of the variables that are the tasks' control blocks. */
  private static Map<String, List<String>> trees(LoadedImage image, Run run) {
    Map<Long, RecordBatch> calls = new LinkedHashMap<>();
    RecordBatch records = run.records();
    long task = 0;
    int interrupts = 0;
    for (int i = 0; i < records.size(); i++) {
      switch (records.kind[i]) {
        case RecordBatch.TASK -> task = records.selfPc[i];
        case RecordBatch.INTERRUPT_ENTER -> interrupts++;
        case RecordBatch.INTERRUPT_EXIT -> interrupts--;
        default -> {
          if (interrupts == 0) {
            calls
                .computeIfAbsent(task, _ -> new RecordBatch(records.size()))
                .add(
                    records.kind[i],
                    records.time[i],
                    records.depth[i],
                    records.selfPc[i],
                    records.fromPc[i],
                    records.retP[i],
                    records.fp[i]);
          }
        }
      }
    }
    Map<String, List<String>> trees = new TreeMap<>();
    calls.forEach(
        (id, batch) ->
            trees.put(
                name(image, id),
                new Run(image, run.ending(), batch, "", 0, 0, 0, 0, 0, LongList.of())
                    .tree()
                    .lines()));
    return trees;
  }

  private static String name(LoadedImage image, long id) {
    return image.elf().objects().stream()
        .filter(s -> s.address() == id)
        .map(Symbol::name)
        .findFirst()
        .orElse("task " + id);
  }

  private static Run bothProbes(LoadedImage image, TaskOptions tasks) {
    return sameByBoth(image, Run.options().withTasks(tasks));
  }

  /** By both probes, wherever they stop, and the program does what it does untraced. */
  private static Run sameByBoth(LoadedImage image, CoreOptions options, String... arguments) {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    Run untraced = Run.of(image, options.withTraced(false), 1_000_000, core -> {}, arguments);
    Run first = null;
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run whole = Run.of(image, options.withProbe(probe), 1_000_000, core -> {}, arguments);
      assertThat(whole.ending()).as("%s", probe).isEqualTo(untraced.ending());
      assertThat(whole.output()).isEqualTo(untraced.output());
      first = first == null ? whole : first;
      Records.assertSame("Java", first.records(), probe.toString(), whole.records());
      int records = 1 + random.nextInt(1 << random.nextInt(1, 12));
      CoreOptions cut = options.withProbe(probe);
      // a full batch stops a core elsewhere, and then a timer may find another place to interrupt
      cut = options.timers().isEmpty() ? cut.withRecordsPerChunk(records) : cut;
      Run pieces =
          Run.of(image, cut, _ -> 1 + random.nextInt(1 << random.nextInt(1, 14)), arguments);
      String again = probe + ", -Dretstack.seed=" + seed;
      Records.assertSame("one slice", first.records(), again, pieces.records());
    }
    return first;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          rtos_curent | ''        | ''       | ''       | the task variable is 'rtos_curent', .*; did you mean rtos_current\\?
          ''          | rtos_yeld | ''       | ''       | the function that switches tasks is 'rtos_yeld', .*rtos_yield.*
          ''          | ''        | rtos_end | ''       | the function that ends tasks is 'rtos_end', .*
          ''          | ''        | ''       | rtos_isr | the interrupt handler is 'rtos_isr', .*
          ''          | rtos_yield:2 | ''    | ''       | task switch rtos_yield:2: write FUNCTION:argN, .*
          0xzz        | ''        | ''       | ''       | task variable 0xzz: a symbol, or an address .*
          rtos_current | rtos_yield | ''     | ''       | tasks by variable .* only one of both .*
          """)
  void whatTheImageHasNotIsNamed(
      String variable, String switcher, String end, String handler, String sentence)
      throws IOException {
    LoadedImage image = RtosTest.image("rtos-x86_64-fentry.elf");
    List<String> ends = end.isEmpty() ? List.of() : List.of(end);
    List<String> handlers = handler.isEmpty() ? List.of() : List.of(handler);
    assertThatThrownBy(
            () ->
                Core.open(
                        image,
                        Run.options()
                            .withTasks(new TaskOptions(variable, switcher, ends, handlers)))
                    .close())
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .matches("(rtos-x86_64-fentry.elf: )?" + sentence);
  }

  private static long address(LoadedImage image, String symbol) {
    return image.elf().symbol(symbol).orElseThrow().address();
  }

  /** Entries by task and in interrupts. */
  private static final class Counts {
    private final Map<Long, Long> calls = new LinkedHashMap<>();
    private final Map<Long, Integer> events = new LinkedHashMap<>();
    private long inInterrupts;
    private int interrupts;

    static Counts of(RecordBatch records) {
      Counts counts = new Counts();
      long task = 0;
      int open = 0;
      for (int i = 0; i < records.size(); i++) {
        switch (records.kind[i]) {
          case RecordBatch.TASK -> {
            task = records.selfPc[i];
            counts.events.merge(records.fromPc[i], 1, Integer::sum);
          }
          case RecordBatch.INTERRUPT_ENTER -> {
            open++;
            counts.interrupts++;
          }
          case RecordBatch.INTERRUPT_EXIT -> open--;
          case RecordBatch.ENTRY -> {
            counts.inInterrupts += open > 0 ? 1 : 0;
            counts.calls.merge(task, open > 0 ? 0L : 1L, Long::sum);
          }
          default -> {}
        }
      }
      assertThat(open).isZero();
      return counts;
    }

    long calls(long task) {
      return calls.getOrDefault(task, 0L);
    }

    int event(TaskEvent event) {
      return events.getOrDefault((long) event.code(), 0);
    }
  }
}
