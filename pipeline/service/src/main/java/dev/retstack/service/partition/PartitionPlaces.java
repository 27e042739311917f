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
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.ChunkPlace;
import dev.retstack.schema.DrawnCore;
import dev.retstack.schema.NamedTask;
import dev.retstack.schema.PartPlaces;
import dev.retstack.schema.PlacedCore;
import dev.retstack.schema.record.TaskName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
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
    /** The record that another member gets. */
    DrawnCore written() {
      ByteOutput bytes = new ByteOutput(1 << 12);
      try {
        pyramid.writeTo(bytes);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot happen in memory", e);
      }
      return DrawnCore.newBuilder()
          .setImage(image)
          .setOthers(List.copyOf(others))
          .setUnit(dev.retstack.schema.ClockUnit.valueOf(unit.name()))
          .setTasks(
              tasks.entrySet().stream()
                  .map(t -> new NamedTask(t.getKey(), t.getValue().first(), t.getValue().second()))
                  .toList())
          .setPyramid(ByteBuffer.wrap(bytes.take()))
          .build();
    }

    /**
     * Reads what another member wrote.
     *
     * @throws IOException where the pyramid is none, or it names more than a core may have
     */
    static Drawn of(DrawnCore written) throws IOException {
      bound(written.getOthers().size(), OTHERS_MAX, "images");
      bound(written.getTasks().size(), TASKS_MAX, "names of tasks");
      bound(written.getPyramid().remaining(), PYRAMID_MAX, "bytes of a pyramid");
      Map<Long, TaskName> tasks = new HashMap<>();
      for (NamedTask task : written.getTasks()) {
        tasks.put(task.getTask(), new TaskName(task.getFirst(), task.getSecond()));
      }
      return new Drawn(
          written.getImage(),
          new TreeSet<>(written.getOthers()),
          ClockUnit.valueOf(written.getUnit().name()),
          tasks,
          Pyramid.readFrom(new ByteInput(written.getPyramid().array())));
    }
  }

  /** A place and the reference to it. */
  private static final long PLACE_BYTES = 72;

  private static final int OTHERS_MAX = 1 << 14;
  private static final int TASKS_MAX = 1 << 20;
  private static final int PYRAMID_MAX = 1 << 20;

  private static void bound(int count, int most, String what) throws IOException {
    if (count > most) {
      throw new IOException("%d %s, at most %d".formatted(count, what, most));
    }
  }

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

  /** The record that another member gets: all but the position. */
  public PartPlaces written() {
    return new PartPlaces(
        cores.stream()
            .map(
                core ->
                    new PlacedCore(
                        core.key().session(),
                        core.key().core(),
                        core.places().stream().map(PartitionPlaces::written).toList(),
                        core.drawn().map(Drawn::written).orElse(null)))
            .toList());
  }

  private static ChunkPlace written(Place place) {
    return ChunkPlace.newBuilder()
        .setOffset(place.offset())
        .setLastOffset(place.lastOffset())
        .setSequence(place.sequence())
        .setRecordsBefore(place.recordsBefore())
        .setFirstTime(place.firstTime())
        .setLastTime(place.lastTime())
        .setKeyframe(place.keyframe())
        .build();
  }

  /**
   * Reads what another member wrote.
   *
   * @param position where it said that the partition stood
   * @throws IOException where a pyramid is none
   */
  public static PartitionPlaces of(StateCopy position, PartPlaces written) throws IOException {
    List<Core> cores = new ArrayList<>();
    for (PlacedCore core : written.getCores()) {
      DrawnCore drawn = core.getDrawn();
      cores.add(
          new Core(
              new CoreKey(core.getSession(), core.getCore()),
              core.getPlaces().stream().map(PartitionPlaces::read).toList(),
              drawn == null ? Optional.empty() : Optional.of(Drawn.of(drawn))));
    }
    return new PartitionPlaces(position, cores);
  }

  private static Place read(ChunkPlace place) {
    return new Place(
        place.getOffset(),
        place.getLastOffset(),
        place.getSequence(),
        place.getRecordsBefore(),
        place.getFirstTime(),
        place.getLastTime(),
        place.getKeyframe());
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
