package dev.retstack.service.query;

import dev.retstack.answers.history.History;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.places.Place;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.RefusedCores;
import dev.retstack.graph.top.TopBuilder;
import dev.retstack.service.partition.PartitionMeasure;
import dev.retstack.service.partition.PartitionPlaces;
import dev.retstack.service.partition.PartitionTotals;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
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
    /** The state, as in a checkpoint. */
    STATE,
    /** How far each core came. */
    CORES,
    /** What the state adds up to. */
    TOTALS,
    /** Where the chunks of cores stand in the log. */
    PLACES,
    /** As PLACES, with what each core did when. */
    TILES,
    /** The past of the member, as one part for all its partitions. */
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
    byte[] body =
        writtenCores(
            cores.stream().filter(core -> core.partition() == measure.partition()).toList(),
            measure.forgotten(),
            measure.refused());
    return new Part(
        measure.partition(),
        measure.epoch(),
        measure.nextOffset(),
        measure.checkpointedOffset(),
        measure.skippedOffsets(),
        measure.images(),
        body,
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
    return of(
        found.position(),
        written(
            out -> {
              out.writeInt(found.cores().size());
              for (PartitionPlaces.Core core : found.cores()) {
                out.writeUTF(core.key().session());
                out.writeUTF(core.key().core());
                out.writeInt(core.places().size());
                out.writeBoolean(core.drawn().isPresent());
                if (core.drawn().isPresent()) {
                  core.drawn().get().writeTo(out);
                }
                for (Place place : core.places()) {
                  out.writeLong(place.offset());
                  out.writeLong(place.lastOffset());
                  out.writeLong(place.sequence());
                  out.writeLong(place.recordsBefore());
                  out.writeLong(place.firstTime());
                  out.writeLong(place.lastTime());
                  out.writeBoolean(place.keyframe());
                }
              }
            }));
  }

  /** A part of {@link Kind#HISTORY}, which is of no partition. */
  static Part of(History.Told told) {
    byte[] body = written(told::writeTo);
    return new Part(0, 0, 0, 0, 0, StateCopy.Waiting.NONE, body, Optional.empty(), "");
  }

  /** The body of a part of {@link Kind#HISTORY}. */
  History.Told history() {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(body))) {
      return History.Told.readFrom(in);
    } catch (IOException e) {
      throw new UncheckedIOException("the past of a member cannot be read", e);
    }
  }

  /** The body of a part of {@link Kind#PLACES}. */
  PartitionPlaces places(GraphLimits limits) {
    return found.orElseGet(() -> readPlaces(limits));
  }

  private PartitionPlaces readPlaces(GraphLimits limits) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(body))) {
      List<PartitionPlaces.Core> cores = new ArrayList<>();
      int count = in.readInt();
      for (int i = 0; i < count; i++) {
        CoreKey key = new CoreKey(in.readUTF(), in.readUTF());
        List<Place> places = new ArrayList<>();
        int many = in.readInt();
        Optional<PartitionPlaces.Drawn> drawn =
            in.readBoolean() ? Optional.of(PartitionPlaces.Drawn.readFrom(in)) : Optional.empty();
        for (int j = 0; j < many; j++) {
          places.add(
              new Place(
                  in.readLong(),
                  in.readLong(),
                  in.readLong(),
                  in.readLong(),
                  in.readLong(),
                  in.readLong(),
                  in.readBoolean()));
        }
        cores.add(new PartitionPlaces.Core(key, places, drawn));
      }
      return new PartitionPlaces(state(limits).position(), cores);
    } catch (IOException e) {
      throw new UncheckedIOException("partition " + partition + ": places cannot be read", e);
    }
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

  private static byte[] writtenCores(
      List<CoreProgress> cores, ForgottenSessions forgotten, List<RefusedCores.Row> refused) {
    return written(
        out -> {
          out.writeInt(cores.size());
          for (CoreProgress core : cores) {
            out.writeUTF(core.key().session());
            out.writeUTF(core.key().core());
            out.writeUTF(core.isa());
            out.writeUTF(core.image());
            out.writeUTF(core.imageName());
            out.writeLong(core.chunks());
            out.writeLong(core.keyframes());
            out.writeLong(core.records());
            out.writeLong(core.lost());
            out.writeLong(core.untraced());
            out.writeLong(core.anomalies());
            out.writeInt(core.open());
            out.writeLong(core.time());
            out.writeUTF(core.end().name());
            out.writeUTF(core.endDetail());
          }
          forgotten.writeTo(out);
          out.writeInt(refused.size());
          for (RefusedCores.Row core : refused) {
            out.writeUTF(core.key().session());
            out.writeUTF(core.key().core());
            out.writeLong(core.chunks());
          }
        });
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
    List<CoreProgress> cores = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(body))) {
      int count = in.readInt();
      Map<String, String> once = new HashMap<>(); // many cores have the same session and image
      for (int i = 0; i < count; i++) {
        CoreKey key = new CoreKey(once(in.readUTF(), once), in.readUTF());
        cores.add(
            new CoreProgress(
                key,
                partition,
                once(in.readUTF(), once),
                once(in.readUTF(), once),
                once(in.readUTF(), once),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readInt(),
                in.readLong(),
                CoreEnd.valueOf(in.readUTF()),
                once(in.readUTF(), once)));
      }
      final ForgottenSessions forgotten = ForgottenSessions.readFrom(in);
      List<RefusedCores.Row> refused = new ArrayList<>();
      int named = in.readInt();
      for (int i = 0; i < named; i++) {
        refused.add(new RefusedCores.Row(new CoreKey(in.readUTF(), in.readUTF()), in.readLong()));
      }
      return new Cores(cores, forgotten, refused);
    } catch (IOException e) {
      throw new UncheckedIOException("partition " + partition + ": cores cannot be read", e);
    }
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
