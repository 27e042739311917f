package dev.retstack.fleet;

import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.control.ControlDesk;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.control.FleetControl;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.progress.FleetProgress;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.SentImages;
import dev.retstack.fleet.run.CoreRun;
import dev.retstack.fleet.run.CoreSettings;
import dev.retstack.fleet.run.RecordBuffers;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Many cores on few threads. Each core runs a slice and goes to the end of the queue, so all get
 * the same share of instructions. A core that waits for the sink holds up only its thread.
 *
 * <p>Platform threads, because a call into the engine pins a virtual one.
 */
public final class Fleet {
  /**
   * Most cores that have a buffer of records each: three quarters of a megabyte. More share those
   * of their threads.
   */
  private static final int BUFFERS_MOST = 128;

  /** How long an interrupted fleet waits for the last chunks to be taken. */
  private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

  private final FleetOptions options;
  private final SentImages images;
  private final ChunkSink sink;
  private final FleetListener listener;
  private final List<CoreRun> tasks;
  private final ControlDesk desk;

  /** By whether calls of other files count. */
  private final Map<Boolean, Map<LoadedImage, SiteCatalog>> catalogs =
      Map.of(false, new ConcurrentHashMap<>(), true, new ConcurrentHashMap<>());

  private final ConcurrentLinkedQueue<CoreRun> waiting = new ConcurrentLinkedQueue<>();
  private final List<CoreResult> results = new ArrayList<>();
  private final CountDownLatch left;
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicLong openingNanos = new AtomicLong();
  private final AtomicReference<Error> broken = new AtomicReference<>();
  private volatile boolean stopping;

  private Fleet(
      List<CoreSpec> cores,
      FleetOptions options,
      ChunkSink sink,
      SentImages images,
      FleetListener listener,
      ControlChannel channel) {
    this.options = options;
    this.sink = sink;
    this.images = images;
    this.listener = listener;
    long slice = options.sliceOf(cores.size());
    this.tasks = cores.stream().map(core -> task(core, slice)).toList();
    this.desk = new ControlDesk(options.session(), channel);
    this.left = new CountDownLatch(options.threads());
    waiting.addAll(tasks);
  }

  private CoreRun task(CoreSpec core, long slice) {
    return new CoreRun(
        core,
        options,
        slice,
        sink,
        images,
        new CoreSettings(
            core,
            () ->
                catalogs
                    .get(core.options().libraryCalls())
                    .computeIfAbsent(core.image(), _ -> core.catalog())));
  }

  /** Runs cores that take no commands; see the other. */
  public static List<CoreResult> run(
      List<CoreSpec> cores, FleetOptions options, ChunkSink sink, FleetListener listener)
      throws IOException, InterruptedException {
    return run(cores, options, sink, listener, ControlChannel.NONE);
  }

  /**
   * Runs cores until all have ended. The sink is not closed.
   *
   * <p>When the calling thread is interrupted, every core ends in order, STOPPED, with its last
   * chunk; then this method throws.
   *
   * @param channel commands that the cores follow, those of the past included; closed at the end
   * @return what became of each core, in the order in which they ended
   * @throws IOException when the sink does not take the images, or past commands cannot be read
   * @throws IllegalArgumentException when two cores have one name
   */
  public static List<CoreResult> run(
      List<CoreSpec> cores,
      FleetOptions options,
      ChunkSink sink,
      FleetListener listener,
      ControlChannel channel)
      throws IOException, InterruptedException {
    try {
      Set<String> names = new HashSet<>();
      SentImages images = new SentImages(sink);
      for (CoreSpec core : cores) {
        if (!names.add(core.name())) {
          throw new IllegalArgumentException("two cores are named " + core.name());
        }
        images.send(core.image().elf().buildId(), () -> CoreSpec.describe(core.image(), cores));
      }
      return new Fleet(cores, options, sink, images, listener, channel).run();
    } finally {
      channel.close();
    }
  }

  private List<CoreResult> run() throws IOException, InterruptedException {
    desk.replay();
    FleetControl past = desk.join(new Tasks());
    tasks.forEach(task -> task.join(past));
    desk.listen();
    return runAll();
  }

  private List<CoreResult> runAll() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < options.threads(); i++) {
      threads.add(Thread.ofPlatform().name("fleet-" + i).daemon().start(this::work));
    }
    try {
      while (!left.await(options.progressInterval().toMillis(), TimeUnit.MILLISECONDS)) {
        tellProgress();
      }
    } catch (InterruptedException e) {
      stopInOrder(threads);
      throw e;
    } finally {
      tellProgress();
    }
    if (broken.get() != null) {
      throw broken.get();
    }
    return List.copyOf(results);
  }

  private void stopInOrder(List<Thread> threads) throws InterruptedException {
    stopping = true;
    tasks.forEach(CoreRun::hurry);
    if (!left.await(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
      threads.forEach(Thread::interrupt); // the sink does not take the last chunks
      left.await(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void work() {
    Optional<RecordBuffers> buffers =
        tasks.size() > BUFFERS_MOST ? Optional.of(new RecordBuffers()) : Optional.empty();
    try {
      for (CoreRun task = waiting.poll(); task != null; task = waiting.poll()) {
        if (advance(task, buffers)) {
          waiting.add(task);
        } else {
          ended(task.result());
        }
      }
    } catch (Error e) {
      broken.compareAndSet(null, e);
      stopping = true;
    } finally {
      left.countDown();
    }
  }

  /** Runs a slice of a core, or stops it; true while it has not ended. */
  private boolean advance(CoreRun task, Optional<RecordBuffers> buffers) {
    try {
      if (!stopping) {
        boolean first = task.openingNanos() == 0;
        boolean more = task.slice(buffers);
        if (first) {
          opened(task);
        }
        return more;
      }
      task.stop("stopped by the user");
    } catch (InterruptedException e) {
      stopping = true; // the next cores are stopped, and their chunks not waited for
      Thread.currentThread().interrupt();
    }
    return false;
  }

  private void opened(CoreRun task) {
    long nanos = openingNanos.addAndGet(task.openingNanos());
    if (opened.incrementAndGet() == tasks.size()) {
      synchronized (results) {
        listener.allOpened(tasks.size(), Duration.ofNanos(nanos / options.threads()));
      }
    }
  }

  private void ended(CoreResult result) {
    synchronized (results) {
      results.add(result);
      listener.coreEnded(result);
    }
  }

  private void tellProgress() {
    CoreRun.Progress sum =
        tasks.stream()
            .map(CoreRun::progress)
            .reduce(CoreRun.Progress.NOTHING, CoreRun.Progress::plus);
    synchronized (results) {
      listener.progress(
          new FleetProgress(
              tasks.size(),
              results.size(),
              sum.instructions(),
              sum.records(),
              sum.chunks(),
              sum.overruns(),
              sum.unhijackable(),
              sink.waits()));
    }
  }

  /** The cores as the desk reaches them: by their place in {@link #tasks}. */
  private final class Tasks implements ControlDesk.Post {
    @Override
    public SortedMap<Integer, CoreIdentity> running() {
      SortedMap<Integer, CoreIdentity> running = new TreeMap<>();
      for (int i = 0; i < tasks.size(); i++) {
        if (tasks.get(i).result() == null) {
          running.put(i, tasks.get(i).identity());
        }
      }
      return running;
    }

    @Override
    public void command(Command command, Instant sent, List<Integer> cores) {
      for (int core : cores) {
        tasks
            .get(core)
            .command(command, answer -> desk.answer(command.id(), command.number(), answer));
      }
    }
  }
}
