package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.EndDetail;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.Visible;
import java.io.StreamCorruptedException;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One start of one core as the sink has seen it. Knows what may come next, so that a child can
 * neither leave a gap nor speak for another core; and can say the last word for it. One thread
 * changes it, others read its sums.
 */
final class CoreStream {
  private static final int LACKS_MAX = 8;
  private static final int LACK_CHARS_MAX = 1000;

  private final CoreSpec spec;
  private final String firstName;
  private final String session;
  private final GuestInput input;
  private long chunks;
  private long records;
  private long time;
  private long overruns;
  private long unhijackable;
  private long abandoned;
  private CoreEnding ending;
  private String undelivered = "";
  private CoreResult result;

  private CoreStream(CoreSpec spec, String firstName, String session, GuestInput input) {
    this.spec = spec;
    this.firstName = firstName;
    this.session = session;
    this.input = input;
  }

  /** The first start of a core. */
  static CoreStream first(CoreSpec spec, String session) {
    GuestInput input = new GuestInput(spec.options().linux().stdin());
    return new CoreStream(spec, spec.name(), session, input);
  }

  /** This core once more, from the beginning, under a new name. */
  CoreStream restart(int number) {
    CoreSpec again =
        new CoreSpec(
            firstName + CoreIdentity.RESTART + number, spec.image(), spec.options(), spec.labels());
    return new CoreStream(again, firstName, session, input);
  }

  CoreSpec spec() {
    return spec;
  }

  GuestInput input() {
    return input;
  }

  synchronized long chunks() {
    return chunks;
  }

  synchronized long records() {
    return records;
  }

  synchronized long overruns() {
    return overruns;
  }

  synchronized long unhijackable() {
    return unhijackable;
  }

  /** True where the sink refused a chunk: none may follow. */
  boolean isBroken() {
    return !undelivered.isEmpty();
  }

  /** Why the sink refused a chunk; empty where it did not. */
  String undelivered() {
    return undelivered;
  }

  /** True when its last chunk was taken. */
  boolean hasEnded() {
    return ending != null;
  }

  /** What became of it; null while that is open. */
  synchronized CoreResult result() {
    return result;
  }

  /**
   * Refuses a chunk that is not the next of this core.
   *
   * @throws StreamCorruptedException with what was expected and what came
   */
  void check(Chunk chunk) throws StreamCorruptedException {
    try {
      Chunks.check(chunk);
    } catch (CorruptChunkException e) {
      throw new StreamCorruptedException(e.getMessage());
    }
    require("core", spec.name(), chunk.getCore());
    require("session", session, chunk.getSession());
    require("image", spec.image().elf().buildId(), chunk.getImage());
    require("isa", spec.image().isa().name(), chunk.getIsa());
    require("clock unit", unit(), chunk.getClockUnit());
    require("sequence", chunks, chunk.getSequence());
    require("records before", records, chunk.getRecordsBefore());
    require("last chunk", false, hasEnded());
    if (chunk.getFirstTime() < time) {
      throw new StreamCorruptedException(
          "chunk of core %s: first time %d is before %d"
              .formatted(spec.name(), chunk.getFirstTime(), time));
    }
  }

  private void require(String what, Object expected, Object received)
      throws StreamCorruptedException {
    if (!expected.equals(received)) {
      throw new StreamCorruptedException(
          "chunk of core %s: %s expected %s, received %s"
              .formatted(spec.name(), what, expected, received));
    }
  }

  ClockUnit unit() {
    return spec.options().clock() == CoreOptions.Clock.VIRTUAL
        ? ClockUnit.INSTRUCTIONS
        : ClockUnit.NANOSECONDS;
  }

  /** Notes that the sink has taken a chunk. */
  synchronized void noteTaken(Chunk chunk) {
    chunks++;
    records += chunk.getRecordCount();
    overruns += chunk.getOverruns();
    unhijackable += chunk.getUnhijackable();
    abandoned += chunk.getAbandoned();
    time = chunk.getLastTime();
    if (chunk.getEnd() != CoreEnd.RUNNING) {
      ending =
          new CoreEnding(
              chunk.getEnd(),
              EndDetail.exitCode(chunk.getEndDetail()).orElse(0),
              LastWords.printable(chunk.getEndDetail()));
    }
  }

  /** Notes that the sink refused a chunk. */
  void refused(String why) {
    undelivered = why;
  }

  /**
   * The last word for a core whose process is gone. Nothing is invented: it holds no records, and
   * its time is that of the last record which came; what the core did after that is unknown.
   */
  Chunk lastChunk(CoreEnd end, String detail) {
    return Chunks.seal(
        Chunk.newBuilder()
            .setSession(session)
            .setCore(spec.name())
            .setIsa(spec.image().isa().name())
            .setImage(spec.image().elf().buildId())
            .setSequence(chunks)
            .setClockUnit(unit())
            .setRecordsBefore(records)
            .setFirstTime(time)
            .setLastTime(time)
            .setEnd(end)
            .setEndDetail(detail),
        Codecs.standard(),
        new RecordBatch(0));
  }

  /**
   * Takes the child's word for what the stream does not show.
   *
   * @throws StreamCorruptedException where the stream has not ended
   */
  synchronized void close(CoreResult told) throws StreamCorruptedException {
    if (!hasEnded() && !isBroken()) {
      throw new StreamCorruptedException(
          "core %s ended without a last chunk".formatted(spec.name()));
    }
    SortedMap<String, Long> unsupported = new TreeMap<>();
    told.unsupported().forEach((name, n) -> unsupported.put(LastWords.printable(name), n));
    CoreEnding said = told.ending();
    result =
        result(
            new CoreEnding(said.end(), said.exitCode(), LastWords.printable(said.detail())),
            told.instructions(),
            unsupported,
            told.lacks().stream()
                .limit(LACKS_MAX)
                .map(line -> Visible.cut(line, LACK_CHARS_MAX))
                .toList(),
            told.leftAlone().stream()
                .limit(LACKS_MAX)
                .map(name -> Visible.cut(name, LACK_CHARS_MAX))
                .toList());
  }

  /** Ends it where the child cannot say how any more. */
  synchronized void close(CoreEnd end, String detail) {
    boolean timeIsInstructions = unit() == ClockUnit.INSTRUCTIONS;
    result =
        result(
            hasEnded() ? ending : new CoreEnding(end, 0, detail),
            timeIsInstructions ? time : 0,
            Collections.emptySortedMap(),
            List.of(),
            List.of());
  }

  private CoreResult result(
      CoreEnding how,
      long instructions,
      SortedMap<String, Long> unsupported,
      List<String> lacks,
      List<String> leftAlone) {
    return new CoreResult(
        spec.name(),
        how,
        instructions,
        records,
        overruns,
        unhijackable,
        leftAlone,
        abandoned,
        unsupported,
        lacks,
        undelivered);
  }
}
