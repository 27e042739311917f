package dev.retstack.fleet.zoo;

import dev.retstack.fleet.core.ImageLayout;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * What a trace under settings must be, told from the full trace: its calls as a forest, and which
 * of them are kept as sentences over ancestors. Shares nothing with the probes, which know a stack
 * only. For programs whose calls all return in order.
 */
final class Oracle {
  /** A call of the full trace. */
  static final class Call {
    final Optional<Call> caller;
    final int entry;
    int exit = -1;
    final long selfPc;
    final long time;
    boolean kept;

    private Call(Optional<Call> caller, RecordBatch full, int entry) {
      this.caller = caller;
      this.entry = entry;
      this.selfPc = full.selfPc[entry];
      this.time = full.time[entry];
    }

    /** The call itself and those that it was made in, the innermost first. */
    List<Call> chain() {
      List<Call> chain = new ArrayList<>();
      for (Optional<Call> c = Optional.of(this); c.isPresent(); c = c.get().caller) {
        chain.add(c.get());
      }
      return chain;
    }

    boolean inside(Predicate<Call> what) {
      Call at = this;
      while (!what.test(at)) {
        if (at.caller.isEmpty()) {
          return false;
        }
        at = at.caller.get();
      }
      return true;
    }

    /** So many kept calls it was made in. */
    int depth() {
      int depth = 0;
      for (Optional<Call> c = caller; c.isPresent(); c = c.get().caller) {
        depth += c.get().kept ? 1 : 0;
      }
      return depth;
    }
  }

  private final RecordBatch full;
  private final List<Call> calls = new ArrayList<>();
  private final Call[] ofRecord;
  private final long landing;
  private final long landingEnd;
  private final long stride;
  private boolean balanced = true;

  Oracle(LoadedImage image, RecordBatch full) {
    this.full = full;
    landing = ImageLayout.landingPage(image.elf());
    landingEnd = LandingPage.endOf(landing, image.isa());
    stride = image.isa().landing().stride();
    ofRecord = new Call[full.size()];
    Deque<Call> open = new ArrayDeque<>();
    for (int i = 0; i < full.size(); i++) {
      if (full.kind[i] == RecordBatch.ENTRY) {
        balanced &= full.depth[i] == open.size();
        Call call = new Call(Optional.ofNullable(open.peek()), full, i);
        calls.add(call);
        open.push(call);
        ofRecord[i] = call;
      } else {
        balanced &= full.depth[i] == open.size() - 1;
        ofRecord[i] = open.isEmpty() ? calls.getFirst() : open.pop();
        ofRecord[i].exit = i;
      }
    }
  }

  /** True where no frame was left by a longjmp: only then the rest has a meaning. */
  boolean isBalanced() {
    return balanced;
  }

  /** All calls, in order of their entries. */
  List<Call> calls() {
    return calls;
  }

  /** Instructions or nanoseconds from entry to exit; of a call without exit: none. */
  Optional<Long> duration(Call call) {
    return call.exit < 0
        ? Optional.empty()
        : Optional.of(full.time[call.exit] - full.time[call.entry]);
  }

  /**
   * The records of the kept calls.
   *
   * @param written which of them leave records
   */
  RecordBatch graph(Predicate<Call> written) {
    return graph(written, (_, _) -> {});
  }

  /**
   * The same.
   *
   * @param before adds what is recorded in front of an entry, kept or not; at most four records
   */
  RecordBatch graph(Predicate<Call> written, BiConsumer<Call, RecordBatch> before) {
    RecordBatch some = new RecordBatch(5 * full.size());
    for (int i = 0; i < full.size(); i++) {
      Call call = ofRecord[i];
      if (call.entry == i) {
        before.accept(call, some);
      }
      if (call.kept && written.test(call)) {
        some.add(
            full.kind[i],
            full.time[i],
            call.depth(),
            full.selfPc[i],
            from(call),
            full.retP[i],
            full.fp[i]);
      }
    }
    return some;
  }

  /** The kept calls without a hijack. */
  RecordBatch functions() {
    RecordBatch some = new RecordBatch(full.size());
    List<Call> selected = calls.stream().filter(c -> c.kept).toList();
    calls.forEach(c -> c.kept = false); // no one is hijacked
    for (Call call : selected) {
      some.add(RecordBatch.FUNCTION, call.time, 0, call.selfPc, from(call), 0, 0);
    }
    return some;
  }

  /** Where it returns to: a handler slot, where it was called by a kept one that gave way to it. */
  private long from(Call call) {
    long from = full.fromPc[call.entry];
    if (from < landing || from >= landingEnd) {
      return from;
    }
    Call gaveWay = call.caller.orElseThrow();
    return gaveWay.kept ? landing + gaveWay.depth() % LandingPage.SLOTS * stride : from(gaveWay);
  }
}
