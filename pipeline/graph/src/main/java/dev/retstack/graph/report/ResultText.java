package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreEvents;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreReconstructor;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.CallTotals;
import dev.retstack.graph.tree.Ending;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/** The canonical text of a result and its digest; TOTALS.md has the form. */
final class ResultText {
  private static final int VERSION = 1;

  private final List<String> lines = new ArrayList<>();
  private final ClockUnit unit;

  ResultText(ClockUnit unit) {
    this.unit = unit;
  }

  void core(CoreGraph core) {
    CoreReconstructor p = core.progress();
    lines.add(
        "core %s %s %d %d %d %d %d %d %d %d %d %d %s %s %016x"
            .formatted(
                quote(core.key().core()),
                quote(core.image().id()),
                p.records(),
                p.lost(),
                p.entries(),
                p.ended(Ending.RETURNED),
                p.ended(Ending.TAIL_CALLED),
                p.ended(Ending.UNWOUND),
                p.ended(Ending.ENDED),
                p.ended(Ending.TRUNCATED),
                p.open(),
                p.time(),
                p.end().name(),
                quote(p.endDetail()),
                core.digest()));
    CoreEvents other = core.other();
    if (other.functions() + other.systemCalls() + other.marks() + other.values() > 0) {
      lines.add(
          "other %s %s %d %d %d %d %016x"
              .formatted(
                  quote(core.key().core()),
                  quote(core.image().id()),
                  other.functions(),
                  other.systemCalls(),
                  other.marks(),
                  other.values(),
                  other.digest()));
    }
  }

  /** The tasks and interrupts of a core, where it has any. */
  void contexts(CoreRow core) {
    String where = quote(core.core()) + " " + quote(core.imageId());
    for (TaskRow t : core.tasks()) {
      lines.add(
          "task %s %x %d %d %d %d %d %d %d %d %d %d %s"
              .formatted(
                  where,
                  t.id(),
                  t.instance(),
                  t.entries(),
                  t.returned(),
                  t.tailCalled(),
                  t.unwound(),
                  t.ended(),
                  t.truncated(),
                  t.open(),
                  t.switches(),
                  t.ran(),
                  t.over() ? "over" : "live"));
    }
    for (InterruptRow i : core.interrupts()) {
      lines.add(
          "interrupt %s %d %d %d %d %d"
              .formatted(where, i.number(), i.count(), i.finished(), i.total(), i.max()));
    }
  }

  void profile(ImageInfo image, CallProfile profile) {
    CallTotals functions = profile.functions();
    for (int i = 0; i < profile.functionCount(); i++) {
      if (functions.calls(i) == 0) {
        continue; // a caller that has no separate call site
      }
      long pc = profile.selfPc(i);
      lines.add("function %s %x %s".formatted(where(image, pc), image.in(pc), row(functions, i)));
      if (functions.wall(i) != functions.total(i)) {
        lines.add("wall %s %x %d".formatted(where(image, pc), image.in(pc), functions.wall(i)));
      }
    }
    CallTotals edges = profile.edges();
    for (int i = 0; i < profile.edgeCount(); i++) {
      long caller = profile.selfPc(profile.caller(i));
      long callee = profile.selfPc(profile.callee(i));
      boolean isOne = image.of(caller).id().equals(image.of(callee).id());
      lines.add(
          "edge %s %s%x %x %s"
              .formatted(
                  where(image, callee),
                  isOne ? "" : quote(image.of(caller).id()) + " ",
                  image.in(caller),
                  image.in(callee),
                  row(edges, i)));
    }
  }

  private static String where(ImageInfo image, long pc) {
    return quote(image.of(pc).id()) + " " + quote(image.of(pc).isa());
  }

  void stats(StatCounts counts) {
    for (Stat stat : Stat.values()) {
      if (stat.partOfResult() && counts.get(stat) > 0) {
        lines.add("stat %s %d".formatted(stat.name(), counts.get(stat)));
      }
    }
  }

  private static String row(CallTotals t, int id) {
    return "%d %d %d %d %d %d %d"
        .formatted(
            t.calls(id), t.finished(id), t.total(id), t.sum(id), t.self(id), t.min(id), t.max(id));
  }

  /** The whole text: the head, then all lines in the order of their UTF-16 units. */
  String text() {
    List<String> sorted = new ArrayList<>(lines);
    Collections.sort(sorted);
    StringBuilder text = new StringBuilder();
    text.append("retstack result ").append(VERSION).append('\n');
    text.append("unit ").append(unit.name()).append('\n');
    for (String line : sorted) {
      text.append(line).append('\n');
    }
    return text.toString();
  }

  /** SHA-256 of the text in UTF-8, in lower-case hex. */
  String hash() {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text().getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** A field without spaces or line ends: these, controls, backslash and emptiness are escaped. */
  static String quote(String field) {
    if (field.isEmpty()) {
      return "\\e";
    }
    StringBuilder quoted = new StringBuilder();
    for (int i = 0; i < field.length(); i++) {
      char c = field.charAt(i);
      if (c <= ' ' || c >= 0x7f || c == '\\') {
        quoted.append("\\u%04x".formatted((int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.toString();
  }
}
