package dev.retstack.service.query;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.question.Drawers;
import dev.retstack.answers.question.HitsQuestion;
import dev.retstack.answers.question.QuerySource;
import dev.retstack.answers.question.View;
import dev.retstack.answers.question.WindowQuestion;
import dev.retstack.answers.replay.ChunkReplay;
import dev.retstack.answers.replay.InvalidTraceException;
import dev.retstack.answers.replay.KeptNames;
import dev.retstack.answers.replay.PyramidPass;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.answers.replay.WindowChunks;
import dev.retstack.answers.search.CallSearch;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.view.Coverage;
import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.places.Place;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.service.images.ImageRegistry;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.partition.PartitionPlaces;
import dev.retstack.service.window.LogConsumers;
import dev.retstack.service.window.LogReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;

/**
 * Answers about a time of some cores. The owners of the partitions report where the chunks stand in
 * the log; this member reads them again and rebuilds the window, as if they were a trace. No state
 * is copied, and no partition waits.
 */
public final class Windows implements AutoCloseable {
  /** Cores of one answer at most. */
  static final int CORES_MAX = 16;

  /** What a window is expected to take, with its chunks. */
  private static final long EXPECTED_BYTES = 64 << 20;

  private static final Duration IMAGE = Duration.ofSeconds(5);
  private static final Duration IMAGE_ANSWER = IMAGE.plusSeconds(5);

  private final Job job;
  private final ActorSystem<?> system;
  private final ActorRef<ImageRegistry.Command> images;
  private final LogConsumers consumers;
  private final String topic;
  private final TimeRules rules;
  private final LateSymbols names;
  private final KeptNames keptNames;
  private final Drawers drawers = new Drawers();
  private final Meters meters;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * Nothing is read so far.
   *
   * @param topic the events
   * @param rules which time is in totals
   * @param names for images that are announced without
   */
  public Windows(
      Job job,
      ActorSystem<?> system,
      ActorRef<ImageRegistry.Command> images,
      KafkaSettings kafka,
      String topic,
      TimeRules rules,
      LateSymbols names,
      Meters meters) {
    this.job = job;
    this.system = system;
    this.images = images;
    this.consumers = new LogConsumers(kafka);
    this.topic = topic;
    this.rules = rules;
    this.names = names;
    this.keptNames = new KeptNames(names);
    this.meters = meters;
  }

  private record CoreWindow(PartitionPlaces.Core at, List<Chunk> chunks) {
    long lastTime() {
      return LogReader.lastTime(at.places());
    }
  }

  private record Read(
      List<CoreWindow> cores,
      Map<String, Image> images,
      Coverage coverage,
      QuerySource.Cost cost) {}

  /**
   * The window as a view.
   *
   * @param counts whether only what is in the window counts
   */
  CompletionStage<QuerySource.Seen> view(
      WindowQuestion question, boolean counts, HeapRoom.Share share) {
    return read(question, counts, _ -> question, share)
        .thenApplyAsync(read -> see(read, question, counts, GraphLimits.DEFAULT));
  }

  /** The window as a view of what is in it, whose calls add up by their stacks. */
  CompletionStage<QuerySource.Seen> stacks(WindowQuestion question, HeapRoom.Share share) {
    return read(question, true, _ -> question, share)
        .thenApplyAsync(read -> see(read, question, true, View.stackLimits(read.cores().size())));
  }

  /** The window as a trace, which begins with a keyframe and has the images that it needs. */
  CompletionStage<QuerySource.Traced> trace(WindowQuestion question, HeapRoom.Share share) {
    return read(question, true, _ -> question, share).thenApplyAsync(Windows::write);
  }

  /** Where calls of some functions are. */
  CompletionStage<QuerySource.Searched> hits(HitsQuestion question, HeapRoom.Share share) {
    return read(question.window(), true, _ -> question.window(), share)
        .thenApplyAsync(read -> search(read, question));
  }

  private QuerySource.Searched search(Read read, HitsQuestion question) {
    CallSearch search = question.search();
    replay(read, PyramidPass.state(search).named(names), question.window().window(false))
        .cores()
        .forEach(PyramidPass::closeOpen);
    return new QuerySource.Searched(search.found(), read.coverage(), read.cost());
  }

  /**
   * What each core did in the window.
   *
   * @param drawing how fine
   */
  CompletionStage<QuerySource.Drawn> timeline(
      WindowQuestion question, TraceTimeline.Drawing drawing, HeapRoom.Share share) {
    long start = System.nanoTime();
    return job.places(question, Part.Kind.TILES, share)
        .thenApplyAsync(
            found -> {
              int count = count(found, question);
              Shape shape = new Shape(question, drawing);
              Map<CoreKey, CoreWindow> read = new HashMap<>();
              Map<String, Image> known = new HashMap<>();
              QuerySource.Cost cost = new QuerySource.Cost(count, 0, 0, 0, 0);
              List<PartitionPlaces> chunks = shape.ofChunks(found.partitions());
              if (!chunks.isEmpty()) {
                try {
                  Read all =
                      fetch(
                          new Job.Places(chunks, List.of(), found.coverage()),
                          question,
                          true,
                          core -> around(question, shape.of(core)),
                          share,
                          start);
                  all.cores().forEach(core -> read.put(core.at().key(), core));
                  known.putAll(all.images());
                  cost = all.cost();
                } catch (BadRequestException e) {
                  if (!shape.isTiled(chunks)) {
                    throw e;
                  } // what the log does not give is in the tiles
                }
              }
              List<TraceTimeline.Answer> drawn;
              try {
                drawn = draw(found, shape, read, known);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
              long millis = (System.nanoTime() - start) / 1_000_000;
              return new QuerySource.Drawn(
                  drawn,
                  found.coverage(),
                  new QuerySource.Cost(
                      count, cost.chunks(), cost.records(), cost.fetchedBytes(), millis));
            },
            threads);
  }

  /** A question about each of some cores. */
  private record Shape(WindowQuestion question, TraceTimeline.Drawing drawing) {
    /** The part of the question that is in the life of a core. */
    Timeline.Question of(PartitionPlaces.Core core) {
      return TraceTimeline.clip(
          drawing.of(question.first(), question.last()),
          core.places().stream().mapToLong(Place::firstTime).min().orElse(0),
          LogReader.lastTime(core.places()));
    }

    /** Whether it has tiles, they are longer than stretches, and its window has few records. */
    boolean isCoarse(PartitionPlaces.Core core) {
      Timeline.Question asked = of(core);
      return core.drawn().isPresent()
          && core.drawn().get().pyramid().tiles().shift() > asked.shift()
          && records(core.places(), asked) <= TraceTimeline.RECORDS_MAX;
    }

    /** Whether its chunks are not read. */
    boolean isTiled(PartitionPlaces.Core core) {
      return core.drawn().isPresent() && !(drawing.chunks() && isCoarse(core));
    }

    /** Of what an answer from its tiles is made. */
    TraceTimeline.Detail detail(PartitionPlaces.Core core) {
      return !drawing.chunks() && isCoarse(core)
          ? TraceTimeline.Detail.COARSE
          : TraceTimeline.Detail.TILES;
    }

    static long records(List<Place> places, Timeline.Question asked) {
      long first = Long.MAX_VALUE;
      long last = 0;
      for (int i = 0; i < places.size(); i++) {
        Place place = places.get(i);
        if (place.firstTime() <= asked.end() && place.lastTime() >= asked.begin()) {
          Place next = places.get(Math.min(i + 1, places.size() - 1));
          first = Math.min(first, place.recordsBefore());
          last = Math.max(last, next.recordsBefore());
        }
      }
      return last - Math.min(first, last);
    }

    boolean isTiled(List<PartitionPlaces> partitions) {
      return partitions.stream()
          .flatMap(one -> one.cores().stream())
          .allMatch(core -> core.drawn().isPresent());
    }

    List<PartitionPlaces> ofChunks(List<PartitionPlaces> partitions) {
      return partitions.stream()
          .map(
              one ->
                  new PartitionPlaces(
                      one.position(), one.cores().stream().filter(core -> !isTiled(core)).toList()))
          .filter(one -> !one.cores().isEmpty())
          .toList();
    }
  }

  private List<TraceTimeline.Answer> draw(
      Job.Places found, Shape shape, Map<CoreKey, CoreWindow> read, Map<String, Image> known)
      throws IOException {
    List<Drawers.Core> cores = new ArrayList<>();
    for (PartitionPlaces partition : found.partitions()) {
      for (PartitionPlaces.Core core : partition.cores()) {
        CoreWindow chunks = read.get(core.key());
        Timeline.Question asked = shape.of(core);
        if (chunks != null) {
          cores.add(() -> draw(chunks, known, asked));
          continue;
        }
        PartitionPlaces.Drawn drawn = core.drawn().orElseThrow();
        ImageInfo image =
            keptNames
                .of(drawn.image(), drawn.others(), id -> find(id, known).map(ChunkApplier::info))
                .orElseThrow(() -> noImage(drawn.image(), core.key().core()));
        long last = LogReader.lastTime(core.places());
        cores.add(
            () ->
                new TraceTimeline.Answer(
                    core.key(),
                    drawn.unit(),
                    last,
                    Timeline.of(drawn.pyramid().tiles(), asked),
                    image.names(),
                    TraceTimeline.TaskNaming.of(image, drawn.tasks()),
                    shape.detail(core)));
      }
    }
    return drawers.draw(cores, shape.drawing());
  }

  private Optional<Image> find(String id, Map<String, Image> known) {
    if (!known.containsKey(id)) {
      image(id).ifPresent(image -> known.put(id, image));
    }
    return Optional.ofNullable(known.get(id));
  }

  private static BadRequestException noImage(String id, String core) {
    return new BadRequestException(
        503,
        "image %s of core %s does not come".formatted(id, core),
        "publish it to the images topic");
  }

  /** The time that whole pixels take. */
  private static WindowQuestion around(WindowQuestion question, Timeline.Question asked) {
    return new WindowQuestion(
        question.core(),
        question.session(),
        question.from().isPresent() ? OptionalLong.of(asked.begin()) : OptionalLong.empty(),
        question.to().isPresent() ? OptionalLong.of(asked.end()) : OptionalLong.empty());
  }

  private TraceTimeline.Answer draw(
      CoreWindow core, Map<String, Image> known, Timeline.Question question) {
    try {
      return ChunkReplay.timeline(
          "topic " + topic,
          core.at().key(),
          core.lastTime(),
          core.chunks(),
          known,
          names,
          question);
    } catch (InvalidTraceException | BrokenCoreException e) {
      throw unusable(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static BadRequestException unusable(Exception e) {
    return new BadRequestException(
        422, e.getMessage(), "ask for a time without that chunk; retstack dead-letters has more");
  }

  private CompletionStage<Read> read(
      WindowQuestion question,
      boolean next,
      Function<PartitionPlaces.Core, WindowQuestion> times,
      HeapRoom.Share share) {
    long start = System.nanoTime();
    return job.places(question, Part.Kind.PLACES, share)
        .thenApplyAsync(found -> fetch(found, question, next, times, share, start), threads);
  }

  private Read fetch(
      Job.Places found,
      WindowQuestion question,
      boolean next,
      Function<PartitionPlaces.Core, WindowQuestion> times,
      HeapRoom.Share share,
      long start) {
    final int count = count(found, question);
    List<PartitionPlaces> partitions =
        found.partitions().stream().filter(one -> !one.cores().isEmpty()).toList();
    long expected = Math.min(EXPECTED_BYTES, job.room().most() / 2);
    Optional<String> refusal = share.take(partitions.getFirst().position().partition(), expected);
    share.requireAlone();
    refusal.ifPresent(
        why -> {
          throw new BadRequestException(503, why, "ask again in a moment");
        });
    List<CoreWindow> cores = new ArrayList<>();
    long fetched;
    try (LogReader reader = new LogReader(consumers, topic)) {
      try {
        for (PartitionPlaces partition : partitions) {
          for (PartitionPlaces.Core core : partition.cores()) {
            WindowChunks chunks =
                reader.read(
                    partition.position().partition(),
                    core.key(),
                    core.places(),
                    question,
                    times.apply(core));
            cores.add(new CoreWindow(core, chunks.list(next)));
          }
        }
      } finally {
        fetched = reader.fetchedBytes();
        meters.windowRead(fetched);
      }
    }
    long chunks = cores.stream().mapToLong(core -> core.chunks().size()).sum();
    long records =
        cores.stream()
            .flatMap(core -> core.chunks().stream())
            .mapToLong(Chunk::getRecordCount)
            .sum();
    Map<String, Image> named = images(cores);
    long millis = (System.nanoTime() - start) / 1_000_000;
    return new Read(
        cores,
        named,
        found.coverage(),
        new QuerySource.Cost(count, chunks, records, fetched, millis));
  }

  /** How many cores are meant: at least one, and not too many. */
  private static int count(Job.Places found, WindowQuestion question) {
    int count = found.partitions().stream().mapToInt(one -> one.cores().size()).sum();
    if (count == 0) {
      throw unknown(question, found.near());
    }
    if (count > CORES_MAX) {
      throw new BadRequestException(
          "more than %d cores are meant".formatted(CORES_MAX), "name one with core, and session");
    }
    return count;
  }

  private static BadRequestException unknown(WindowQuestion question, List<String> near) {
    String what =
        question.core().isEmpty()
            ? question.session().isEmpty() ? "no core" : "no session " + question.session()
            : "no core " + question.core();
    String of =
        question.core().isEmpty() || question.session().isEmpty()
            ? ""
            : " of session " + question.session();
    return new BadRequestException(
        404,
        what + of + " in the partitions that answered",
        (near.isEmpty() ? "" : "did you mean " + String.join(", ", near) + "? ")
            + "GET /cores lists the known ones");
  }

  /** The images that the chunks name, as far as they are there. */
  private Map<String, Image> images(List<CoreWindow> cores) {
    Map<String, Image> found = new HashMap<>();
    for (CoreWindow core : cores) {
      for (Chunk chunk : core.chunks()) {
        if (!found.containsKey(chunk.getImage())) {
          found.put(
              chunk.getImage(),
              image(chunk.getImage())
                  .orElseThrow(() -> noImage(chunk.getImage(), chunk.getCore())));
        }
        for (String other : chunk.getImages()) {
          if (!found.containsKey(other)) {
            image(other).ifPresent(image -> found.put(other, image));
          }
        }
      }
    }
    return found;
  }

  /** The image with that build-id; waits some seconds for one that is missing. */
  public Optional<Image> image(String id) {
    return AskPattern.<ImageRegistry.Command, ImageRegistry.Found>ask(
            images, to -> new ImageRegistry.Find(id, IMAGE, to), IMAGE_ANSWER, system.scheduler())
        .toCompletableFuture()
        .join()
        .image();
  }

  private QuerySource.Seen see(
      Read read, WindowQuestion question, boolean counts, GraphLimits limits) {
    StateBudget budget = new StateBudget(job.room().most(), 0);
    GraphState state = new GraphState(limits, rules, budget).named(names).anywhere();
    return new QuerySource.Seen(
        new View(replay(read, state, question.window(counts)), read.coverage()), read.cost());
  }

  /** Takes what was read into a state. */
  private GraphState replay(Read read, GraphState state, TraceReplay.Window window) {
    try {
      for (CoreWindow core : read.cores()) {
        ChunkReplay.read(
            "topic " + topic, core.chunks(), read.images(), core.lastTime(), state, window);
      }
      return state;
    } catch (InvalidTraceException | BrokenCoreException e) {
      throw unusable(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static QuerySource.Traced write(Read read) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (TraceFileWriter writer = TraceFileWriter.to(out)) {
      for (Image image : read.images().values()) {
        writer.write(image);
      }
      for (CoreWindow core : read.cores()) {
        for (Chunk chunk : core.chunks()) {
          writer.write(chunk);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new QuerySource.Traced(out.toByteArray(), read.coverage(), read.cost());
  }

  @Override
  public void close() {
    threads.shutdown();
    drawers.close();
    consumers.close();
  }
}
