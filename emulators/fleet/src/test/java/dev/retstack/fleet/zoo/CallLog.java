package dev.retstack.fleet.zoo;

import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a program of {@code guest/unwind} said of its own calls ({@code log.h}), against the records
 * of its run: each line is the next record, at the depth that the lines before say. So an exit that
 * is lost, one too many, and a frame that died too early or too late is a difference.
 */
final class CallLog {
  private static final Set<Byte> SWITCHES =
      Set.of(RecordBatch.TASK, RecordBatch.INTERRUPT_ENTER, RecordBatch.INTERRUPT_EXIT);

  private record Frame(String name, boolean gaveWay) {}

  private final Run run;
  private final RecordBatch records;
  private final Map<String, List<Frame>> stacks = new HashMap<>();

  /** The frames of the stack that the program is on. */
  private List<Frame> open = new ArrayList<>();

  private int next;
  private int died;

  private CallLog(Run run) {
    this.run = run;
    records = run.records();
    stacks.put("main", open);
  }

  /**
   * Compares.
   *
   * @return frames that died
   * @throws AssertionError with both neighbourhoods at the first difference
   */
  static int check(Run run) {
    return new CallLog(run).compare();
  }

  private int compare() {
    List<String> lines = run.output().lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      try {
        if (!line.isEmpty()) {
          follow(line.charAt(0), line.substring(1));
        }
      } catch (IllegalStateException e) {
        throw new AssertionError(
            "%s at line %d; the program:%n%s%nthe records:%n%s"
                .formatted(
                    e.getMessage(),
                    i,
                    String.join("\n", lines.subList(Math.max(0, i - 8), i + 1)),
                    names()),
            e);
      }
    }
    if (nextCall() < records.size()) {
      throw new AssertionError("more records than the program has calls:\n" + names());
    }
    return died;
  }

  private void follow(char what, String name) {
    switch (what) {
      case '+' -> {
        require(RecordBatch.ENTRY, name, open.size());
        open.add(new Frame(name, false));
      }
      case '-' -> {
        leave(name);
        while (!open.isEmpty() && open.getLast().gaveWay) {
          leave(open.getLast().name);
        }
      }
      case '~' -> {
        open.removeLast();
        open.add(new Frame(name, true));
      }
      case '^' -> {
        while (!open.getLast().name.equals(name)) {
          open.removeLast();
          died++;
        }
      }
      case '!' -> {
        open.removeLast();
        died++;
      }
      case '@' -> open = stacks.computeIfAbsent(name, stack -> new ArrayList<>());
      default -> {} // other output
    }
  }

  private void leave(String name) {
    if (!open.getLast().name.equals(name)) {
      throw new IllegalStateException(name + " returns, " + open.getLast().name + " was called");
    }
    open.removeLast();
    require(RecordBatch.EXIT, name, open.size());
  }

  private void require(byte kind, String name, int depth) {
    String expected = text(kind, name, depth);
    String found = nextCall() < records.size() ? text(next) : "the end";
    if (!found.equals(expected)) {
      throw new IllegalStateException("expected " + expected + ", found " + found);
    }
    next++;
  }

  /** What stack a record is of, its depth tells well enough. */
  private int nextCall() {
    while (next < records.size() && SWITCHES.contains(records.kind[next])) {
      next++;
    }
    return next;
  }

  private static String text(byte kind, String name, int depth) {
    return (kind == RecordBatch.ENTRY ? "+" : kind == RecordBatch.EXIT ? "-" : "kind " + kind + " ")
        + "%s at %d".formatted(name, depth);
  }

  private String text(int record) {
    byte kind = records.kind[record];
    boolean isCall = kind == RecordBatch.ENTRY || kind == RecordBatch.EXIT;
    return text(kind, isCall ? name(records.selfPc[record]) : "", records.depth[record]);
  }

  /** Destructors have names that only a linker can love: {@code _ZN5GuardD2Ev}. */
  private String name(long pc) {
    String symbol = run.image().elf().functionAt(pc).orElseThrow().name();
    return symbol.replaceFirst("^_ZN\\d+(\\w+)D[012]Ev$", "~$1");
  }

  private String names() {
    StringBuilder text = new StringBuilder();
    for (int i = Math.max(0, next - 8); i < Math.min(records.size(), next + 4); i++) {
      text.append(i == next ? "> " : "  ").append(text(i)).append('\n');
    }
    return text.toString();
  }
}
