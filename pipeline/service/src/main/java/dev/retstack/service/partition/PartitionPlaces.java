package dev.retstack.service.partition;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.calls.KnownCore;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.places.LogPlaces;
import dev.retstack.graph.places.Place;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.record.TaskName;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Where the chunks of some cores stand in one partition of the log.
 *
 * @param position where the partition stood, without its state
 * @param cores those that are meant, with their places in the order of the log
 */
public record PartitionPlaces(StateCopy position, List<Core> cores) {
  /**
   * A core and its places.
   *
   * @param drawn what it did when; empty where that was not asked for, or it has no pyramid
   */
  public record Core(CoreKey key, List<Place> places, Optional<Drawn> drawn) {
    public Core {
      places = List.copyOf(places);
    }
  }

  /**
   * What a core did when.
   *
   * @param others images of functions outside the core's own image
   * @param tasks how the program called them last, by id
   * @param pyramid with the calls that are open
   */
  public record Drawn(
      String image,
      Set<String> others,
      ClockUnit unit,
      Map<Long, TaskName> tasks,
      Pyramid pyramid) {
    /** Fields of it, as {@link #readFrom} reads them. */
    public void writeTo(DataOutput out) throws IOException {
      Fields.writeText(out, image);
      out.writeInt(others.size());
      for (String other : others) {
        Fields.writeText(out, other);
      }
      Fields.writeText(out, unit.name());
      out.writeInt(tasks.size());
      for (Map.Entry<Long, TaskName> task : tasks.entrySet()) {
        out.writeLong(task.getKey());
        out.writeLong(task.getValue().first());
        out.writeLong(task.getValue().second());
      }
      ByteOutput bytes = new ByteOutput(1 << 12);
      pyramid.writeTo(bytes);
      out.writeInt(bytes.size());
      out.write(bytes.take());
    }

    /** Reads what {@link #writeTo} wrote. */
    public static Drawn readFrom(DataInput in) throws IOException {
      String image = Fields.readText(in);
      int count = Fields.readCount(in, OTHERS_MAX, "images");
      Set<String> others = new TreeSet<>();
      for (int i = 0; i < count; i++) {
        others.add(Fields.readText(in));
      }
      ClockUnit unit = Fields.readEnum(in, ClockUnit.class);
      Map<Long, TaskName> tasks = new HashMap<>();
      for (int left = Fields.readCount(in, TASKS_MAX, "names of tasks"); left > 0; left--) {
        tasks.put(in.readLong(), new TaskName(in.readLong(), in.readLong()));
      }
      byte[] bytes = new byte[Fields.readCount(in, PYRAMID_MAX, "bytes of a pyramid")];
      in.readFully(bytes);
      return new Drawn(image, others, unit, tasks, Pyramid.readFrom(new ByteInput(bytes)));
    }
  }

  /** A place and the reference to it. */
  private static final long PLACE_BYTES = 72;

  private static final int OTHERS_MAX = 1 << 14;
  private static final int TASKS_MAX = 1 << 20;
  private static final int PYRAMID_MAX = 1 << 20;

  /** Bytes of the heap that it takes, more or less. */
  public long bytes() {
    return cores.stream()
        .mapToLong(
            core ->
                PLACE_BYTES * core.places().size()
                    + core.drawn().map(drawn -> drawn.pyramid().bytes()).orElse(0L))
        .sum();
  }

  /** Adds when each core did what. */
  PartitionPlaces with(GraphState state) {
    List<Core> drawn = new ArrayList<>();
    for (Core core : cores) {
      drawn.add(new Core(core.key(), core.places(), drawn(core.key(), state)));
    }
    return new PartitionPlaces(position, drawn);
  }

  private static Optional<Drawn> drawn(CoreKey key, GraphState state) {
    Optional<GraphState.Drawn> drawn = state.drawn(key);
    if (drawn.isEmpty()) {
      return Optional.empty();
    }
    Pyramid pyramid = drawn.get().pyramid();
    KnownCore core = state.known(key).orElseThrow();
    Set<String> others = state.others().of(pyramid.functions());
    return Optional.of(
        new Drawn(core.image().id(), others, core.unit(), drawn.get().tasks(), pyramid));
  }

  public PartitionPlaces {
    cores = List.copyOf(cores);
  }

  /**
   * The places of these cores.
   *
   * @param core their name; empty for any
   * @param session theirs; empty for any
   * @param most cores to return at most
   */
  static PartitionPlaces of(
      StateCopy position, LogPlaces places, String core, String session, int most) {
    List<Core> found = new ArrayList<>();
    for (CoreKey key : places.cores()) {
      boolean named = core.isEmpty() || core.equals(key.core());
      if (named && found.size() < most && (session.isEmpty() || session.equals(key.session()))) {
        found.add(new Core(key, places.of(key), Optional.empty()));
      }
    }
    return new PartitionPlaces(position, found);
  }
}
