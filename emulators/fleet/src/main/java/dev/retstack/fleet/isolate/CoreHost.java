package dev.retstack.fleet.isolate;

import dev.retstack.fleet.CoreResult;
import dev.retstack.fleet.CoreSpec;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.FleetListener;
import dev.retstack.fleet.FleetProgress;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Visible;
import java.io.BufferedInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.StreamCorruptedException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The child: reads its job, runs it, tells of it. It lives as long as its standard input is open:
 * when the parent ends, in whatever way, the kernel closes the pipe and the child is gone too.
 */
public final class CoreHost {
  /** Exit code after the parent's death; nobody reads it. */
  static final int ORPHANED = 3;

  private final FrameReader in;
  private final FrameWriter out;
  private final Thread fleet = Thread.currentThread();
  private final List<GuestStreams> streams = new ArrayList<>();
  private final Map<Integer, String> refused = new ConcurrentHashMap<>();

  private CoreHost(FrameReader in, FrameWriter out) {
    this.in = in;
    this.out = out;
  }

  /**
   * Started by {@link HostProcess} only.
   *
   * @param arguments where to write frames to: a path such as {@code /dev/fd/3}
   */
  public static void main(String[] arguments) throws IOException {
    try (FileOutputStream frames = new FileOutputStream(arguments[0])) {
      new CoreHost(
              new FrameReader(new BufferedInputStream(System.in, 1 << 16)), new FrameWriter(frames))
          .run();
    }
    System.exit(0); // a guest's thread may still wait for input
  }

  private void run() throws IOException {
    List<ControlChannel.Entry> past = new ArrayList<>();
    Frame first = in.read();
    for (; first != null && first.kind() == Frame.Kind.PAST; first = in.read()) {
      past.add(CommandFrame.read(first));
    }
    if (first == null || first.kind() != Frame.Kind.JOB) {
      throw new StreamCorruptedException("no job");
    }
    HostJob job = first.read(HostJob.class);
    LoadedImage image = job.load();
    List<CoreSpec> cores = new ArrayList<>();
    Map<String, Integer> numbers = new HashMap<>();
    for (HostJob.CorePart core : job.cores()) {
      GuestStreams own = new GuestStreams(out, cores.size());
      numbers.put(core.name(), cores.size());
      streams.add(own);
      cores.add(core.spec(image, own.input(), own.output(1), own.output(2)));
    }
    ParentChannel channel = new ParentChannel(out, Map.copyOf(numbers), past);
    Thread.ofPlatform().name("parent").daemon().start(() -> listen(channel));
    try {
      Fleet.run(cores, job.fleet().options(), new ParentSink(numbers), new Teller(), channel);
    } catch (InterruptedException e) {
      // the parent asked for it, and every core has ended in order
    }
  }

  /** Follows the parent until it is gone. */
  private void listen(ParentChannel channel) {
    try {
      for (Frame frame = in.read(); frame != null; frame = in.read()) {
        switch (frame.kind()) {
          case INPUT -> streams.get(frame.core(streams.size())).arrived(frame.content());
          case REFUSED -> refused.put(frame.core(streams.size()), frame.text());
          case STOP -> fleet.interrupt();
          case COMMAND -> channel.arrived(CommandFrame.read(frame));
          default -> throw new StreamCorruptedException("frame for the parent: " + frame.kind());
        }
      }
    } catch (IOException e) {
      System.err.println(Visible.lines("retstack: " + e));
    }
    Runtime.getRuntime().halt(ORPHANED);
  }

  /** Chunks go to the parent; images it knows already. */
  private final class ParentSink implements ChunkSink {
    private final Map<String, Integer> numbers;

    ParentSink(Map<String, Integer> numbers) {
      this.numbers = numbers;
    }

    @Override
    public void image(Image image) {}

    @Override
    public void chunk(Chunk chunk) throws IOException {
      int core = numbers.get(chunk.getCore());
      String why = refused.get(core);
      if (why != null) {
        throw new IOException(why);
      }
      out.write(Frame.ofCore(Frame.Kind.CHUNK, core, ConfluentFrame.encode(chunk)));
    }

    @Override
    public void close() {}
  }

  private final class Teller implements FleetListener {
    @Override
    public void progress(FleetProgress progress) {
      tell(Frame.json(Frame.Kind.PROGRESS, progress));
    }

    @Override
    public void coreEnded(CoreResult result) {
      tell(Frame.json(Frame.Kind.ENDED, result));
    }

    private void tell(Frame frame) {
      try {
        out.write(frame);
      } catch (IOException e) {
        Runtime.getRuntime().halt(ORPHANED); // nobody listens any more
      }
    }
  }
}
