package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.control.ControlDesk;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetProgress;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.SentImages;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A {@link dev.retstack.fleet.Fleet} whose cores run in child processes, one per image. The death
 * of a child is the end of its cores, not of the fleet:
 *
 * <ul>
 *   <li>What had come of a core stays. It gets a last chunk: no records, {@code FAULTED}, with the
 *       reason. Its sequence has no gap; its open calls end at the last time that came.
 *   <li>It is started again, at the beginning, as a separate core: {@code <name>.restart-1}, and so
 *       on. So nothing is counted twice: each start is a run that took place, and a reader can
 *       distinguish them.
 *   <li>How often is bounded, for each image.
 * </ul>
 *
 * <p>One child per image, because the image is what one trusts or not: a core can only take with it
 * cores that run the same code. A child for each core would cost a JVM each.
 */
public final class IsolatedFleet {
  /** How long a stopped fleet waits for its last chunks, then for its children's end. */
  private static final Duration STOP_LIMIT = Duration.ofSeconds(15);

  private final FleetOptions options;
  private final ChunkSink sink;
  private final ControlDesk desk;
  private final IsolateListener listener;
  private final List<CoreResult> results = new ArrayList<>();
  private final List<ImageRun> runs = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final CountDownLatch left;

  private IsolatedFleet(
      FleetOptions options,
      ChunkSink sink,
      IsolateListener listener,
      ControlChannel channel,
      int images) {
    this.options = options;
    this.desk = new ControlDesk(options.session(), channel);
    this.sink = sink;
    this.listener = listener;
    this.left = new CountDownLatch(images);
  }

  /** Runs cores that take no commands; see the other. */
  public static List<CoreResult> run(
      List<CoreSpec> cores,
      FleetOptions options,
      int restartsMax,
      ChunkSink sink,
      IsolateListener listener)
      throws IOException, InterruptedException {
    return run(cores, options, restartsMax, sink, listener, ControlChannel.NONE);
  }

  /**
   * Runs cores until all have ended. The sink is not closed.
   *
   * <p>When the calling thread is interrupted, every core ends in order, STOPPED, with its last
   * chunk; then this method throws.
   *
   * @param cores whose images were loaded from files
   * @param restartsMax how often the cores of one image are started again
   * @param channel commands that the cores follow, those of the past included; closed at the end
   * @return what became of each core, restarts included, in the order in which they ended
   * @throws IOException when the sink does not take the images, or past commands cannot be read
   * @throws IllegalArgumentException when two cores have one name, or an image has no file
   */
  public static List<CoreResult> run(
      List<CoreSpec> cores,
      FleetOptions options,
      int restartsMax,
      ChunkSink sink,
      IsolateListener listener,
      ControlChannel channel)
      throws IOException, InterruptedException {
    try {
      return prepared(cores, options, restartsMax, sink, listener, channel).run();
    } finally {
      channel.close();
    }
  }

  private static IsolatedFleet prepared(
      List<CoreSpec> cores,
      FleetOptions options,
      int restartsMax,
      ChunkSink sink,
      IsolateListener listener,
      ControlChannel channel)
      throws IOException, InterruptedException {
    requireNames(cores);
    Map<String, List<CoreSpec>> byImage = new LinkedHashMap<>();
    for (CoreSpec core : cores) {
      byImage.computeIfAbsent(core.image().elf().buildId(), _ -> new ArrayList<>()).add(core);
    }
    IsolatedFleet fleet = new IsolatedFleet(options, sink, listener, channel, byImage.size());
    fleet.desk.replay();
    int threads = Math.ceilDiv(options.threads(), Math.max(1, byImage.size()));
    FleetOptions ofImage = options.withThreads(threads);
    SentImages images = new SentImages(sink);
    for (List<CoreSpec> ofOne : byImage.values()) {
      LoadedImage image = ofOne.getFirst().image();
      String file =
          image
              .elf()
              .file()
              .orElseThrow(() -> new IllegalArgumentException(image.elf().name() + " has no file"))
              .toString();
      images.send(image.elf().buildId(), () -> CoreSpec.describe(image, ofOne));
      fleet.add(
          new ImageRun(
              ofOne, file, ofImage, restartsMax, sink, images, fleet.new Serial(), fleet.desk));
    }
    return fleet;
  }

  private static void requireNames(List<CoreSpec> cores) {
    List<String> names = cores.stream().map(CoreSpec::name).toList();
    if (names.stream().distinct().count() < names.size()) {
      throw new IllegalArgumentException("two cores have one name: " + names);
    }
    for (String name : names) {
      if (name.contains(CoreIdentity.RESTART)) {
        throw new IllegalArgumentException(
            "a core named %s: %s is for cores started again".formatted(name, CoreIdentity.RESTART));
      }
    }
  }

  private void add(ImageRun run) {
    runs.add(run);
    threads.add(
        Thread.ofPlatform()
            .name("isolated-" + runs.size())
            .daemon()
            .unstarted(
                () -> {
                  try {
                    run.run();
                  } finally {
                    left.countDown();
                  }
                }));
  }

  private List<CoreResult> run() throws InterruptedException {
    desk.listen();
    threads.forEach(Thread::start);
    try {
      while (!left.await(options.progressInterval().toMillis(), TimeUnit.MILLISECONDS)) {
        tellProgress();
      }
    } catch (InterruptedException e) {
      stopInOrder();
      throw e;
    } finally {
      tellProgress();
    }
    return List.copyOf(results);
  }

  private void stopInOrder() throws InterruptedException {
    runs.forEach(ImageRun::stop);
    if (!left.await(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
      runs.forEach(ImageRun::kill);
      threads.forEach(Thread::interrupt); // the sink does not take the last chunks
      left.await(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void tellProgress() {
    FleetProgress sum = new FleetProgress(0, 0, 0, 0, 0, 0, 0, sink.waits());
    for (ImageRun run : runs) {
      sum = sum.plus(run.progress());
    }
    synchronized (results) {
      listener.progress(sum);
    }
  }

  /** Lets one thread at a time report to the listener. */
  private final class Serial implements IsolateListener {
    @Override
    public void coreEnded(CoreResult result) {
      synchronized (results) {
        results.add(result);
        listener.coreEnded(result);
      }
    }

    @Override
    public void processStarted(long pid, String image) {
      synchronized (results) {
        listener.processStarted(pid, image);
      }
    }

    @Override
    public void processDied(IsolateListener.ProcessDeath death) {
      synchronized (results) {
        listener.processDied(death);
      }
    }
  }
}
