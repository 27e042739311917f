package dev.retstack.fleet.isolate;

import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.progress.FleetProgress;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Visible;
import java.io.BufferedInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.StreamCorruptedException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * The child: reads its job, runs it and reports. It lives as long as its standard input is open.
 * When the parent ends, in whatever way, the kernel closes the pipe and the child ends too.
 */
public final class CoreHost {
  /** Exit code after the parent's death; nobody reads it. */
  static final int ORPHANED = 3;

  private final InputStream in;
  private final OutputStream out;
  private final Thread fleet = Thread.currentThread();
  private final List<GuestStreams> streams = new ArrayList<>();
  private final Map<Integer, String> refused = new ConcurrentHashMap<>();

  private CoreHost(InputStream in, OutputStream out) {
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
      new CoreHost(new BufferedInputStream(System.in, 1 << 16), frames).run();
    }
    System.exit(0); // a guest's thread may still wait for input
  }

  private void run() throws IOException {
    List<ControlChannel.Entry> past = new ArrayList<>();
    Frame first = Frame.read(in);
    for (; first != null && first.kind() == Frame.Kind.PAST; first = Frame.read(in)) {
      past.add(first.command());
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
      LinuxOptions linux =
          core.options().linux().withStreams(own.input(), own.output(1), own.output(2));
      cores.add(new CoreSpec(core.name(), image, core.options().withLinux(linux), core.labels()));
    }
    ParentChannel channel = new ParentChannel(out, Map.copyOf(numbers), past);
    Thread.ofPlatform().name("parent").daemon().start(() -> listen(channel));
    try {
      Fleet.run(
          cores,
          job.fleet(),
          new ParentSink(image.elf().buildId(), numbers),
          new Teller(),
          channel);
    } catch (InterruptedException e) {
      // the parent asked for it, and every core has ended in order
    }
  }

  /** Follows the parent until it is gone. */
  private void listen(ParentChannel channel) {
    try {
      for (Frame frame = Frame.read(in); frame != null; frame = Frame.read(in)) {
        switch (frame.kind()) {
          case INPUT -> streams.get(frame.core(streams.size())).arrived(frame.content());
          case REFUSED -> refused.put(frame.core(streams.size()), frame.text());
          case STOP -> fleet.interrupt();
          case COMMAND -> channel.arrived(frame.command());
          default -> throw new StreamCorruptedException("frame for the parent: " + frame.kind());
        }
      }
    } catch (IOException e) {
      System.err.println(Visible.lines("retstack: " + e));
    }
    Runtime.getRuntime().halt(ORPHANED);
  }

  /** Chunks go to the parent, and the images that cores map; it knows what they run. */
  private final class ParentSink implements ChunkSink {
    private final String own;
    private final Map<String, Integer> numbers;

    ParentSink(String own, Map<String, Integer> numbers) {
      this.own = own;
      this.numbers = numbers;
    }

    @Override
    public void image(Image image) throws IOException {
      if (!image.getBuildId().equals(own)) {
        new Frame(Frame.Kind.IMAGE, ConfluentFrame.encode(image)).write(out);
      }
    }

    @Override
    public void chunk(Chunk chunk) throws IOException {
      int core = numbers.get(chunk.getCore());
      String why = refused.get(core);
      if (why != null) {
        throw new IOException(why);
      }
      Frame.ofCore(Frame.Kind.CHUNK, core, ConfluentFrame.encode(chunk)).write(out);
    }

    @Override
    public void close() {}
  }

  private final class Teller implements FleetListener {
    @Override
    public void progress(FleetProgress progress) {
      send(Frame.json(Frame.Kind.PROGRESS, progress));
    }

    @Override
    public void coreEnded(CoreResult result) {
      send(Frame.json(Frame.Kind.ENDED, result));
    }

    private void send(Frame frame) {
      try {
        frame.write(out);
      } catch (IOException e) {
        Runtime.getRuntime().halt(ORPHANED); // nobody listens any more
      }
    }
  }

  /** Standard input and output of one program: every read and write is a frame. */
  private static final class GuestStreams {
    private static final int OUTPUT_BYTES_MAX = 64 << 10;
    private static final int INPUT_BYTES_MAX = 64 << 10;

    private final OutputStream parent;
    private final int core;
    private final LinkedBlockingQueue<byte[]> input = new LinkedBlockingQueue<>();

    GuestStreams(OutputStream parent, int core) {
      this.parent = parent;
      this.core = core;
    }

    /** Takes what the parent sent: an answer to one request. */
    void arrived(byte[] bytes) {
      input.add(bytes);
    }

    InputStream input() {
      return new Input();
    }

    OutputStream output(int descriptor) {
      return new Output(descriptor);
    }

    private final class Input extends InputStream {
      private byte[] rest = new byte[0];
      private int at;
      private boolean ended;

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] into, int from, int length) throws IOException {
        if (at == rest.length && length > 0 && !ended) {
          ask(Math.min(length, INPUT_BYTES_MAX));
        }
        if (ended) {
          return -1;
        }
        int taken = Math.min(length, rest.length - at);
        System.arraycopy(rest, at, into, from, taken);
        at += taken;
        return taken;
      }

      private void ask(int most) throws IOException {
        byte[] wanted = ByteBuffer.allocate(4).putInt(most).array();
        Frame.ofCore(Frame.Kind.INPUT_WANTED, core, wanted).write(parent);
        try {
          rest = input.take();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new InterruptedIOException("the core was stopped while it waited for input");
        }
        at = 0;
        ended = rest.length == 0;
      }
    }

    private final class Output extends OutputStream {
      private final int descriptor;

      Output(int descriptor) {
        this.descriptor = descriptor;
      }

      @Override
      public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int from, int length) throws IOException {
        for (int done = 0; done < length; ) {
          int part = Math.min(length - done, OUTPUT_BYTES_MAX);
          byte[] content = new byte[1 + part];
          content[0] = (byte) descriptor;
          System.arraycopy(bytes, from + done, content, 1, part);
          Frame.ofCore(Frame.Kind.OUTPUT, core, content).write(parent);
          done += part;
        }
      }
    }
  }

  /**
   * Commands from the parent, and answers to it. The parent speaks for the fleet, so only answers
   * of cores go there.
   */
  private static final class ParentChannel implements ControlChannel {
    private final OutputStream out;
    private final Map<String, Integer> numbers;
    private final List<Entry> past;
    private final BlockingQueue<Entry> commands = new LinkedBlockingQueue<>();
    private Thread follower;

    /**
     * @param numbers of the cores, by name
     * @param past commands from before the child's start
     */
    ParentChannel(OutputStream out, Map<String, Integer> numbers, List<Entry> past) {
      this.out = out;
      this.numbers = numbers;
      this.past = past;
    }

    /** Takes a command that the parent has sent; does not wait until it is followed. */
    void arrived(Entry command) {
      commands.add(command);
    }

    @Override
    public void replay(Consumer<Entry> consumer) {
      past.forEach(consumer);
    }

    @Override
    public void listen(Consumer<Entry> consumer) {
      follower = Thread.ofPlatform().name("control").daemon().start(() -> follow(consumer));
    }

    private void follow(Consumer<Entry> consumer) {
      try {
        while (true) {
          consumer.accept(commands.take());
        }
      } catch (InterruptedException e) {
        // closed
      }
    }

    @Override
    public void answer(ControlResult result) {
      Integer core = numbers.get(result.getCore());
      if (core == null) {
        return;
      }
      try {
        Frame.ofCore(Frame.Kind.ANSWER, core, ConfluentFrame.encode(result)).write(out);
      } catch (IOException e) {
        Runtime.getRuntime().halt(ORPHANED); // nobody listens any more
      }
    }

    @Override
    public void close() {
      if (follower != null) {
        follower.interrupt();
      }
    }
  }
}
