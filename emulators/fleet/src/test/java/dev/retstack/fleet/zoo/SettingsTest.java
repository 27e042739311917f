package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.PatternSubject;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Settings from the first instruction on, drawn at random: both probes against what the full trace
 * says that they must record.
 */
class SettingsTest {
  private static final int ROUNDS = 12;

  /** Of several kinds: where the return address is, byte order, delay slots, nops and calls. */
  static Stream<LoadedImage> images() {
    return Stream.of(
            "x86_64 fentry",
            "x86_64 mcount",
            "i386 patchable",
            "i386 mcount-nop",
            "aarch64 mcount",
            "riscv64 mcount",
            "arm thumb-mcount",
            "s390x fentry",
            "s390x mcount-nop",
            "ppc64 profile-kernel",
            "mips mcount",
            "mips64 mcount-ra",
            "m68k mcount",
            "sparc mcount")
        .map(
            name -> {
              String[] parts = name.split(" ", -1);
              Isa isa = Isas.find(parts[0]).orElseThrow();
              return Zoo.image(isa, isa.convention(parts[1]).orElseThrow());
            });
  }

  @ParameterizedTest
  @MethodSource("images")
  void theRecordsAreThoseOfTheFullTraceUnderTheSettings(LoadedImage image) {
    Map<String, Run> fulls = new HashMap<>();
    SeededRounds.run(
        image,
        ROUNDS,
        (program, random) -> {
          Run full = fulls.computeIfAbsent(program, p -> Run.of(image, p));
          TraceSettings settings = settings(full, random);
          int batch = 1 + random.nextInt(1 << random.nextInt(1, 13));
          try {
            check(full, settings, batch, program);
          } catch (AssertionError e) {
            throw new AssertionError(settings + ", batches of " + batch, e);
          }
        });
  }

  private static void check(Run full, TraceSettings settings, int batch, String program) {
    Run java = run(full.image(), ProbeKind.JAVA, settings, batch, program);
    Run inC = run(full.image(), ProbeKind.NATIVE, settings, batch, program);
    Records.assertSame(java, inC);
    assertThat(inC.instructions()).as("virtual time").isEqualTo(full.instructions());
    assertThat(inC.output()).isEqualTo(full.output());
    assertThat(inC.ending()).isEqualTo(full.ending());
    timesNeverDecrease(inC.records());
    Oracle oracle = new Oracle(full.image(), full.records());
    if (oracle.isBalanced()) {
      RecordBatch expected = expected(oracle, full.image(), settings);
      Records.assertSame("oracle", expected, "C", inC.records());
    }
  }

  private static Run run(
      LoadedImage image, ProbeKind probe, TraceSettings settings, int batch, String program) {
    return Run.of(
        image,
        Run.options().withProbe(probe).withTrace(settings).withRecordsPerChunk(batch),
        997,
        core -> {},
        program);
  }

  private static void timesNeverDecrease(RecordBatch records) {
    for (int i = 1; i < records.size(); i++) {
      assertThat(records.time[i])
          .as("time of record %d", i)
          .isGreaterThanOrEqualTo(records.time[i - 1]);
    }
  }

  /** Each setting as a sentence about a call and those that it was made in. */
  private static RecordBatch expected(Oracle oracle, LoadedImage image, TraceSettings settings) {
    Predicate<PatternSubject> functions = settings.selected();
    Predicate<Oracle.Call> selected = c -> functions.test(subject(image, c));
    if (!settings.on() || settings.tracer() == Tracer.NOP) {
      return new RecordBatch(0);
    }
    if (settings.tracer() == Tracer.FUNCTION) {
      oracle.calls().forEach(c -> c.kept = selected.test(c));
      return oracle.functions();
    }
    Predicate<Oracle.Call> opens = c -> c.kept && any(settings.graphFunctions(), image, c);
    for (Oracle.Call call : oracle.calls()) {
      boolean asked =
          settings.graphFunctions().isEmpty()
              || any(settings.graphFunctions(), image, call)
              || call.inside(opens);
      boolean hidden =
          call.inside(c -> selected.test(c) && any(settings.graphNotraces(), image, c));
      boolean tooDeep = settings.maxDepth() > 0 && call.depth() >= settings.maxDepth();
      call.kept = selected.test(call) && asked && !hidden && !tooDeep;
    }
    List<Oracle.Call> written = new ArrayList<>();
    for (Oracle.Call call : oracle.calls()) {
      if (call.kept && oracle.duration(call).filter(d -> d >= settings.minDuration()).isPresent()) {
        written.addAll(call.chain());
      }
    }
    return oracle.graph(c -> settings.minDuration() == 0 || written.contains(c));
  }

  private static boolean any(List<FunctionPattern> patterns, LoadedImage image, Oracle.Call call) {
    return patterns.stream().anyMatch(p -> p.matches(subject(image, call)));
  }

  static PatternSubject subject(LoadedImage image, Oracle.Call call) {
    String name = image.elf().functionAt(call.selfPc).orElseThrow().name();
    return new PatternSubject(name, call.selfPc, ".text", image.elf().name());
  }

  private static TraceSettings settings(Run full, SplittableRandom random) {
    List<String> names = List.copyOf(full.counts().keySet());
    TraceSettings settings = TraceSettings.standard();
    if (random.nextInt(4) == 0) {
      settings =
          settings.withTracer(
              List.of(Tracer.NOP, Tracer.FUNCTION, Tracer.FUNCTION_GRAPH).get(random.nextInt(3)));
    }
    if (random.nextInt(3) == 0) {
      settings = settings.withFilters(some(names, random));
    }
    if (random.nextInt(3) == 0) {
      settings = settings.withNotraces(some(names, random));
    }
    if (random.nextInt(3) == 0) {
      settings = settings.withGraphFunctions(some(names, random));
    }
    if (random.nextInt(3) == 0) {
      settings = settings.withGraphNotraces(some(names, random));
    }
    if (random.nextInt(3) == 0) {
      settings = settings.withMaxDepth(1 + random.nextInt(6));
    }
    if (random.nextInt(2) == 0) {
      settings = settings.withMinDuration(1 + random.nextInt(1 << random.nextInt(1, 12)));
    }
    return settings;
  }

  private static List<FunctionPattern> some(List<String> names, SplittableRandom random) {
    return names.stream()
        .filter(_ -> random.nextInt(3) == 0)
        .map(name -> random.nextBoolean() ? name : name.substring(0, name.length() - 1) + "?")
        .map(FunctionPattern::parse)
        .toList();
  }
}
