package dev.retstack.service.query;

import dev.retstack.answers.history.History;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.RefusedCores;
import dev.retstack.graph.top.TopBuilder;
import dev.retstack.schema.PartCore;
import dev.retstack.schema.PartCores;
import dev.retstack.schema.PartForgotten;
import dev.retstack.schema.PartHistory;
import dev.retstack.schema.PartPlaces;
import dev.retstack.schema.PartRefused;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.avro.AvroSource;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.service.partition.PartitionMeasure;
import dev.retstack.service.partition.PartitionPlaces;
import dev.retstack.service.partition.PartitionTotals;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the owner of a partition sends to the member that answers for the whole job.
 *
 * @param epoch how often it was taken over; Kafka says which is true
 * @param nextOffset first offset that is not in it
 * @param checkpointedOffset what a restart would go back to
 * @param skippedOffsets offsets that were never delivered
 * @param waiting chunks below {@code nextOffset} that wait for their image
 * @param body what was asked for: a state, or how far its cores came; nothing where {@code found}
 *     has it
 * @param found places that come from this member itself, which need no bytes between
 * @param absent why there is no body, such as that its state is being loaded; empty where there is
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
record Part(
    int partition,
    long epoch,
    long nextOffset,
    long checkpointedOffset,
    long skippedOffsets,
    StateCopy.Waiting waiting,
    byte[] body,
    Optional<PartitionPlaces> found,
    String absent) {

  /** What can be asked for. */
  enum Kind {
    /** The state: all parts of its log, as in a checkpoint. */
    STATE,
    /** How far each core came, as {@link PartCores}. */
    CORES,
    /** What the state adds up to. */
    TOTALS,
    /** Where the chunks of cores stand in the log, as {@link PartPlaces}. */
    PLACES,
    /** As PLACES, with what each core did when. */
    TILES,
    /** The past of the member, as one part for all its partitions: {@link PartHistory}. */
    HISTORY
  }

  /**
   * What is asked for.
   *
   * @param core of {@link Kind#PLACES}, the name of the cores; empty for any
   * @param session theirs; empty for any
   */
  record Wanted(Kind kind, String core, String session) {
    static Wanted of(Kind kind) {
      return new Wanted(kind, "", "");
    }
  }

  private static final byte[] NOTHING = {};

  /** A partition that is owned and cannot be given now. */
  static Part absent(int partition, String reason) {
    return new Part(
        partition, 0, 0, 0, 0, StateCopy.Waiting.NONE, NOTHING, Optional.empty(), reason);
  }

  private static Part of(StateCopy position, byte[] body) {
    return of(position, body, Optional.empty());
  }

  private static Part of(StateCopy position, byte[] body, Optional<PartitionPlaces> found) {
    return new Part(
        position.partition(),
        position.epoch(),
        position.nextOffset(),
        position.checkpointedOffset(),
        position.skippedOffsets(),
        position.waiting(),
        body,
        found,
        "");
  }

  /**
   * A part of {@link Kind#CORES}.
   *
   * @param cores those of all partitions
   */
  static Part of(PartitionMeasure measure, List<CoreProgress> cores) {
    PartCores body =
        new PartCores(
            cores.stream()
                .filter(core -> core.partition() == measure.partition())
                .map(Part::written)
                .toList(),
            written(measure.forgotten()),
            measure.refused().stream()
                .map(row -> new PartRefused(row.key().session(), row.key().core(), row.chunks()))
                .toList());
    return new Part(
        measure.partition(),
        measure.epoch(),
        measure.nextOffset(),
        measure.checkpointedOffset(),
        measure.skippedOffsets(),
        measure.images(),
        bytes(body),
        Optional.empty(),
        "");
  }

  /** A part of {@link Kind#PLACES} for this member itself. */
  static Part local(PartitionPlaces found) {
    return of(found.position(), NOTHING, Optional.of(found));
  }

  /** Bytes of the heap that what was asked for takes. */
  long bytes() {
    return found.map(PartitionPlaces::bytes).orElse((long) body.length);
  }

  static Part of(StateCopy copy) {
    return of(copy, copy.bytes());
  }

  /** A part of {@link Kind#TOTALS}. */
  static Part of(PartitionTotals taken) {
    return of(taken.position(), written(taken.totals()::writeTo));
  }

  /** A part of {@link Kind#PLACES}. */
  static Part of(PartitionPlaces found) {
    return of(found.position(), bytes(found.written()));
  }

  /** A part of {@link Kind#HISTORY}, which is of no partition. */
  static Part of(History.Past told) {
    byte[] body = bytes(told.written());
    return new Part(0, 0, 0, 0, 0, StateCopy.Waiting.NONE, body, Optional.empty(), "");
  }

  private static byte[] bytes(AvroRecord record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    record.writeTo(bytes);
    return bytes.toByteArray();
  }

  /** Gives the record in the body to a reader. */
  private <T extends AvroRecord, R> R read(T record, Reader<T, R> reader) {
    try {
      return reader.read(AvroSource.readAll(record, body));
    } catch (CorruptChunkException | IOException e) {
      throw new UncheckedIOException(
          "partition %d: %s cannot be read".formatted(partition, record.getSchema().getName()),
          e instanceof IOException io ? io : new IOException(e.getMessage(), e));
    }
  }

  private interface Reader<T, R> {
    R read(T record) throws IOException;
  }

  /** The body of a part of {@link Kind#HISTORY}. */
  History.Past history() {
    return read(new PartHistory(), History.Past::of);
  }

  /** The body of a part of {@link Kind#PLACES}. */
  PartitionPlaces places(GraphLimits limits) {
    return found.orElseGet(
        () -> read(new PartPlaces(), read -> PartitionPlaces.of(state(limits).position(), read)));
  }

  boolean isAbsent() {
    return !absent.isEmpty();
  }

  /** Whether it is the one to take, of two that may be believed. */
  boolean beats(Part other) {
    return isAbsent() == other.isAbsent() ? nextOffset > other.nextOffset : other.isAbsent();
  }

  /** The part as a copy of the state. */
  StateCopy state(GraphLimits limits) {
    return new StateCopy(
        partition, epoch, nextOffset, checkpointedOffset, skippedOffsets, waiting, body, limits);
  }

  private static PartCore written(CoreProgress core) {
    return PartCore.newBuilder()
        .setSession(core.key().session())
        .setCore(core.key().core())
        .setIsa(core.isa())
        .setImage(core.image())
        .setImageName(core.imageName())
        .setChunks(core.chunks())
        .setKeyframes(core.keyframes())
        .setRecords(core.records())
        .setLost(core.lost())
        .setUntraced(core.untraced())
        .setAnomalies(core.anomalies())
        .setOpen(core.open())
        .setTime(core.time())
        .setEnd(core.end().name())
        .setEndDetail(core.endDetail())
        .build();
  }

  private static PartForgotten written(ForgottenSessions all) {
    return new PartForgotten(all.sessions(), all.cores(), all.records(), all.lost(), all.since());
  }

  /** Fields to be written. */
  interface Writer {
    void writeTo(DataOutputStream out) throws IOException;
  }

  /** What it writes. */
  static byte[] written(Writer writer) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      writer.writeTo(out);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    return bytes.toByteArray();
  }

  /** Adds the totals of a part of {@link Kind#TOTALS}. */
  void addTotals(TopBuilder into) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(body))) {
      into.read(in, partition);
    } catch (IOException e) {
      throw new UncheckedIOException("partition " + partition + ": totals cannot be read", e);
    }
  }

  /**
   * What a part of {@link Kind#CORES} holds.
   *
   * @param forgotten what was dropped from the state
   * @param refused cores for which there was no room
   */
  record Cores(
      List<CoreProgress> cores, ForgottenSessions forgotten, List<RefusedCores.Row> refused) {
    Cores {
      cores = List.copyOf(cores);
      refused = List.copyOf(refused);
    }
  }

  /** Reads a part of {@link Kind#CORES}. */
  Cores cores() {
    return read(new PartCores(), this::cores);
  }

  private Cores cores(PartCores read) {
    Map<String, String> once = new HashMap<>(); // many cores have the same session and image
    PartForgotten all = read.getForgotten();
    return new Cores(
        read.getCores().stream().map(core -> core(core, once)).toList(),
        new ForgottenSessions(
            all.getSessions(), all.getCores(), all.getRecords(), all.getLost(), all.getSince()),
        read.getRefused().stream()
            .map(
                row ->
                    new RefusedCores.Row(
                        new CoreKey(row.getSession(), row.getCore()), row.getChunks()))
            .toList());
  }

  private CoreProgress core(PartCore core, Map<String, String> once) {
    return new CoreProgress(
        new CoreKey(once(core.getSession(), once), core.getCore()),
        partition,
        once(core.getIsa(), once),
        once(core.getImage(), once),
        once(core.getImageName(), once),
        core.getChunks(),
        core.getKeyframes(),
        core.getRecords(),
        core.getLost(),
        core.getUntraced(),
        core.getAnomalies(),
        core.getOpen(),
        core.getTime(),
        CoreEnd.valueOf(core.getEnd()),
        once(core.getEndDetail(), once));
  }

  private static String once(String text, Map<String, String> texts) {
    String first = texts.putIfAbsent(text, text);
    return first == null ? text : first;
  }

  @Override
  public String toString() {
    return "Part[partition %d, next offset %d, %d bytes]".formatted(partition, nextOffset, bytes());
  }
}
