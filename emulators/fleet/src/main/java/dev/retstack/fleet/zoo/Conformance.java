package dev.retstack.fleet.zoo;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** One program in one image, put to the test. For one thread. */
public final class Conformance {
  /** The program whose functions return values of every kind. */
  private static final String RETURNS = "returns";

  private static final String ENDED_WELL = "exited with code 0";
  private static final long LONG_SLICE = 1_000_000;
  private static final long[] SLICES = {97, 1_000, LONG_SLICE};
  private static final int[] BATCHES = {1, 7, 4_096};

  private final Zoo.Case zoo;
  private final CoreOptions options;
  private Run traced;

  /** With the probe that is the default. */
  public Conformance(Zoo.Case zoo) {
    this(zoo, ProbeKind.AUTO);
  }

  /** With a probe. */
  public Conformance(Zoo.Case zoo, ProbeKind probe) {
    this.zoo = zoo;
    this.options = Run.options().withProbe(probe);
  }

  /** The checks that this program is for. */
  public List<Check> checks() {
    List<Check> checks = new ArrayList<>(List.of(Check.values()));
    if (!zoo.program().equals(RETURNS)) {
      checks.remove(Check.REGISTERS);
    }
    return checks;
  }

  /** Does a check; an exception on the way is a fault too. */
  public Cell cell(Check check) {
    String fault;
    try {
      fault = fault(check).orElse("");
    } catch (RuntimeException e) {
      fault = e.toString();
    }
    return new Cell(zoo.image().elf().name(), zoo.program(), check, fault);
  }

  private Optional<String> fault(Check check) {
    return switch (check) {
      case TREE -> tree();
      case COUNTS -> counts();
      case OUTPUT -> output();
      case CLOCK -> clock();
      case SLICES -> slices();
      case REGISTERS -> ResultRegisters.fault(zoo.image(), options, zoo.program());
    };
  }

  private Run traced() {
    if (traced == null) {
      traced = run(options, LONG_SLICE);
    }
    return traced;
  }

  private Run run(CoreOptions how, long slice) {
    return Run.withoutKeyframes(zoo.image(), how, core -> slice, zoo.program());
  }

  private Optional<String> tree() {
    Run run = traced();
    if (!run.ending().detail().equals(ENDED_WELL)) {
      return differ("end", ENDED_WELL, run.ending().detail());
    }
    if (run.overruns() + run.unhijackable() > 0) {
      return Optional.of(
          "calls untraced: %d overruns, %d unhijackable"
              .formatted(run.overruns(), run.unhijackable()));
    }
    List<String> expected = Zoo.tree(zoo).lines();
    List<String> received = run.tree().lines();
    for (int i = 0; i < Math.min(expected.size(), received.size()); i++) {
      if (!expected.get(i).equals(received.get(i))) {
        return differ("line " + (i + 1) + " of the tree", expected.get(i), received.get(i));
      }
    }
    return same("lines of the tree", expected.size(), received.size());
  }

  private Optional<String> counts() {
    Map<String, Long> expected = Zoo.counts(zoo.program());
    Map<String, Long> received = traced().counts();
    Map<String, Long> counted = Counter.count(zoo.image(), expected.keySet(), zoo.program());
    TreeSet<String> names = new TreeSet<>(expected.keySet());
    names.addAll(received.keySet());
    for (String name : names) {
      long calls = expected.getOrDefault(name, 0L);
      if (received.getOrDefault(name, 0L) != calls || counted.getOrDefault(name, 0L) != calls) {
        return Optional.of(
            "calls of %s: expected %d, traced %d, counted %d"
                .formatted(
                    name, calls, received.getOrDefault(name, 0L), counted.getOrDefault(name, 0L)));
      }
    }
    return Optional.empty();
  }

  private Optional<String> output() {
    Run untraced = run(options.withTraced(false), LONG_SLICE);
    return same("end", untraced.ending(), traced().ending())
        .or(() -> same("output", untraced.output(), traced().output()))
        .or(() -> same("records without a tracer", 0, untraced.records().size()));
  }

  private Optional<String> clock() {
    InstructionCount instructions = new InstructionCount(zoo.image());
    Run.of(zoo.image(), options.withTraced(false), LONG_SLICE, instructions::watch, zoo.program());
    return same("instructions", instructions.count(), traced().instructions());
  }

  private Optional<String> slices() {
    Run whole = traced();
    for (long slice : SLICES) {
      for (int batch : BATCHES) {
        Run cut = run(options.withRecordsPerChunk(batch), slice);
        if (!cut.records().equals(whole.records())
            || cut.instructions() != whole.instructions()
            || !cut.ending().equals(whole.ending())) {
          return differ(
              "slice %d, batch %d".formatted(slice, batch),
              "%d records, %d instructions, %s"
                  .formatted(whole.records().size(), whole.instructions(), whole.ending()),
              "%d records, %d instructions, %s"
                  .formatted(cut.records().size(), cut.instructions(), cut.ending()));
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<String> same(String what, Object expected, Object received) {
    return expected.equals(received) ? Optional.empty() : differ(what, expected, received);
  }

  private static Optional<String> differ(String what, Object expected, Object received) {
    return Optional.of(
        "%s: expected %s, received %s".formatted(what, expected, received).replace('\n', '|'));
  }
}
