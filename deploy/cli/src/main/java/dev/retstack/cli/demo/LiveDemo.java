package dev.retstack.cli.demo;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.demo.FleetWatch.Effect;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.Control;
import dev.retstack.service.control.AnswerTable;
import dev.retstack.service.table.Format;
import dev.retstack.service.table.TextTable;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Changes what a running fleet of several ISAs traces. It shows the commands, the trees before and
 * after, what each core answered, and how long it took.
 */
public final class LiveDemo {
  /** One per convention and more; {@code mcount}, {@code __fentry__}, nops. */
  private static final List<String> IMAGES =
      List.of(
          "zoo-x86_64-fentry",
          "zoo-x86_64-mcount",
          "zoo-aarch64-mcount",
          "zoo-riscv64-mcount",
          "zoo-riscv64-patchable",
          "zoo-arm-thumb-mcount",
          "zoo-ppc64le-patchable",
          "zoo-mips-mcount",
          "zoo-s390x-fentry");

  /** Calls that go on for hours, through a table of functions. */
  private static final List<String> PROGRAM = List.of("zoo", "dispatch", "2000000000");

  private static final String TARGET = "isa=riscv64";
  private static final String SHOWN = "zoo-riscv64-mcount-0";
  private static final int LINES = 14;
  private static final long SLICE_INSTRUCTIONS = 100_000;

  private final List<CoreSpec> cores;
  private final FleetWatch watch;
  private final PrintStream out;
  private final List<Effect> effects = new ArrayList<>();

  /**
   * @param watch of a fleet that runs the cores
   */
  public LiveDemo(List<CoreSpec> cores, FleetWatch watch, PrintStream out) {
    this.cores = cores;
    this.watch = watch;
    this.out = out;
  }

  /**
   * How a fleet runs them: in short slices, after which a core looks for commands, and on half of
   * the processors, since all else runs on them as well.
   */
  public static FleetOptions options() {
    return FleetOptions.standard()
        .withThreads(Math.max(1, Runtime.getRuntime().availableProcessors() / 2))
        .withSliceInstructions(SLICE_INSTRUCTIONS)
        .withFlushInterval(Duration.ofMillis(200));
  }

  /** The cores to run. */
  public static List<CoreSpec> cores(ProbeKind probe) {
    List<CoreSpec> specs = new ArrayList<>();
    for (String name : IMAGES) {
      LoadedImage image = GuestImages.load(GuestImages.resolve(name));
      LinuxOptions linux = LinuxOptions.of("zoo").withArguments(PROGRAM);
      specs.add(new CoreSpec(name + "-0", image, CoreOptions.of(linux).withProbe(probe)));
    }
    return specs;
  }

  /**
   * Goes through the commands.
   *
   * @throws CommandException where an answer or a record is not what the command asks for
   */
  public void run() throws IOException, InterruptedException {
    watch.awaitFleet();
    watch.awaitRecords();

    head("only two functions of riscv64, entry and exit");
    Effect filter = follow("set-filter", "dispatch_apply", "dispatch_rotate");
    table();
    before("the last records before the command");
    after("the first records after it; /* settings */ is the core's own mark in its stream");
    requireFunctions(filter, List.of("dispatch_apply", "dispatch_rotate"));

    head("a function that does not exist");
    Effect refused = watch.follow(control("set-filter", "dispatch_aply"), false);
    say(refused);
    require(!refused.answers().isAllApplied(), "the command should have been refused");

    head("entries only: no return is hijacked, the caller is behind <-");
    follow("set-filter");
    follow("set-tracer", "function");
    after("");

    head("nothing: every call site a nop");
    followSilently("set-tracer", "nop");

    head("entries and exits again, but only below one function");
    followSilently("set-graph-function", "dispatch_twice");
    Effect graph = follow("set-tracer", "function_graph");
    requireNothingBefore(graph);
    after("");

    head("where is a function called from? twice, then no more");
    follow("set-graph-function");
    follow("set-trigger", "dispatch_rotate:stacktrace:2");
    after("");

    head("everything, as at the start");
    follow("reset");
    table();
    latencies();
  }

  private static Control control(String name, String... arguments) {
    return FleetWatch.control(TARGET, name, arguments);
  }

  /** Gives a command under which the cores enter functions. */
  private Effect follow(String name, String... arguments) throws IOException, InterruptedException {
    return follow(true, name, arguments);
  }

  /** Gives a command under which nothing is recorded. */
  private Effect followSilently(String name, String... arguments)
      throws IOException, InterruptedException {
    return follow(false, name, arguments);
  }

  private Effect follow(boolean entries, String name, String... arguments)
      throws IOException, InterruptedException {
    Effect effect = watch.follow(control(name, arguments), entries);
    effects.add(effect);
    say(effect);
    require(effect.answers().isAllApplied(), "not every core followed " + name);
    return effect;
  }

  /** The command as it is typed, and what each core said. */
  private void say(Effect effect) throws IOException {
    out.println("$ retstack trace " + typed(effect.control()) + " --target " + TARGET);
    out.print(AnswerTable.document(effect.answers().cores(), false).as(Format.TEXT));
    out.println();
    out.flush();
  }

  private static String typed(Control control) {
    return control.getArguments().isEmpty()
        ? control.getName()
        : control.getName() + " " + String.join(" ", control.getArguments());
  }

  private void before(String title) throws IOException {
    tree(title, TreeWindow.last(shown(), watch.core(SHOWN).before(), LINES));
  }

  private void after(String title) throws IOException {
    tree(title, TreeWindow.first(shown(), watch.core(SHOWN).after(), LINES));
  }

  private void tree(String title, List<String> lines) {
    out.printf("# %s%s%n", SHOWN, title.isEmpty() ? "" : ": " + title);
    out.printf("#  TIME insn    DUR insn |  FUNCTION CALLS%n");
    lines.forEach(out::println);
    out.println();
    out.flush();
  }

  private CoreSpec shown() {
    return cores.stream().filter(core -> core.name().equals(SHOWN)).findFirst().orElseThrow();
  }

  /** Who recorded what, before and after: the cores outside of the target go on as they were. */
  private void table() throws IOException {
    TextTable table = new TextTable("CORE", "CONVENTION", "COMMAND", "BEFORE", "AFTER");
    for (CoreSpec core : cores) {
      CoreRecords records = watch.core(core.name());
      table.row(
          core.name(),
          Zoo.card(core.image()).name(),
          records.isMarked() ? "followed" : "not selected",
          "%d functions".formatted(records.functionsBefore().size()),
          "%d functions".formatted(records.functionsAfter().size()));
    }
    table.write(out);
    out.println();
    out.flush();
  }

  private void latencies() throws IOException {
    head("how long it took, through Kafka, milliseconds from the sending");
    TextTable table = new TextTable("COMMAND", "LAST ANSWER", "FIRST RECORD", "OF EVERY CORE");
    for (Effect effect : effects) {
      table.row(
          typed(effect.control()),
          ms(effect.answeredMs()),
          ms(effect.firstMs()),
          ms(effect.everyMs()));
    }
    table.write(out);
    out.flush();
  }

  private static String ms(double value) {
    return value == 0 ? "-" : String.format(Locale.ROOT, "%.0f", value);
  }

  private void head(String text) {
    out.printf("%n== %s%n%n", text);
  }

  /** Every core that followed has entered these functions and no others. */
  private void requireFunctions(Effect effect, List<String> names) {
    for (CoreSpec core : cores) {
      CoreRecords records = watch.core(core.name());
      boolean meant =
          effect.answers().cores().stream().anyMatch(a -> a.getCore().equals(core.name()));
      List<String> entered = names(core, records.functionsAfter());
      require(
          !meant || names.containsAll(entered),
          "core %s entered %s".formatted(core.name(), entered));
      require(
          meant || records.functionsAfter().containsAll(records.functionsBefore()),
          "core %s is not selected, and enters only %s".formatted(core.name(), entered));
    }
  }

  private void requireNothingBefore(Effect effect) {
    effect
        .answers()
        .cores()
        .forEach(
            answer ->
                require(
                    watch.core(answer.getCore()).functionsBefore().isEmpty(),
                    "core %s recorded under tracer nop".formatted(answer.getCore())));
  }

  private static List<String> names(CoreSpec core, LongSet selfPcs) {
    return selfPcs
        .longStream()
        .mapToObj(pc -> core.image().elf().functionAt(pc).map(Symbol::name).orElse("?"))
        .sorted()
        .distinct()
        .collect(Collectors.toList());
  }

  private static void require(boolean condition, String otherwise) {
    if (!condition) {
      throw CommandException.environment("not as commanded: " + otherwise);
    }
  }
}
