package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.ControlDesk;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetProgress;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.SentImages;
import dev.retstack.fleet.publish.SinkWaits;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StreamCorruptedException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** The cores of one image, in one child at a time, until all have ended. Runs on one thread. */
final class ImageRun {
  private static final String STOPPED = "stopped by the user";

  private final String file;
  private final FleetOptions fleet;
  private final int restartsMax;
  private final ChunkSink sink;
  private final SentImages images;
  private final IsolateListener listener;
  private final ControlDesk desk;
  private final List<CoreStream> first;

  /** Every start of every core, for the sums. */
  private final List<CoreStream> starts = new CopyOnWriteArrayList<>();

  private final AtomicLong instructionsOfTheDead = new AtomicLong();
  private volatile FleetProgress told;
  private CommandPost post;
  private volatile HostProcess process;
  private boolean stopping;

  /**
   * @param cores of one image
   * @param file absolute path of the image
   * @param listener safe for use by several threads
   * @param desk which has taken the commands of the past
   */
  ImageRun(
      List<CoreSpec> cores,
      String file,
      FleetOptions fleet,
      int restartsMax,
      ChunkSink sink,
      SentImages images,
      IsolateListener listener,
      ControlDesk desk) {
    this.file = file;
    this.fleet = fleet;
    this.restartsMax = restartsMax;
    this.sink = sink;
    this.images = images;
    this.listener = listener;
    this.desk = desk;
    this.first = cores.stream().map(core -> CoreStream.first(core, fleet.session())).toList();
    this.post = join(first);
  }

  /** A post for cores that start now: they miss no command, and get none twice. */
  private CommandPost join(List<CoreStream> cores) {
    CommandPost joined = new CommandPost(cores, desk);
    synchronized (desk) {
      joined.join(desk.join(joined).commands());
    }
    return joined;
  }

  /** Runs the cores; reports each of them to the listener when it has ended. */
  void run() {
    List<CoreStream> open = first;
    for (int restart = 1; !open.isEmpty(); restart++) {
      starts.addAll(open);
      open = runOnce(open, restart);
    }
  }

  /** Asks the child to end its cores in order. */
  synchronized void stop() {
    stopping = true;
    if (process != null) {
      sendStop(process);
    }
  }

  /** Ends the child by force. */
  void kill() {
    HostProcess running = process;
    if (running != null) {
      running.kill();
    }
  }

  private synchronized boolean isStopping() {
    return stopping;
  }

  private synchronized void began(HostProcess child) {
    process = child;
    if (stopping) {
      sendStop(child);
    }
  }

  /** Does not wait: a child that does not listen must not hold up the others. */
  private static void sendStop(HostProcess child) {
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                child.send(new Frame(Frame.Kind.STOP, new byte[0]));
              } catch (IOException e) {
                child.kill(); // it is dead or as good as that
              }
            });
  }

  /** Runs a child to its end; returns the cores to start next, with the number of that restart. */
  private List<CoreStream> runOnce(List<CoreStream> cores, int restart) {
    String image = cores.getFirst().spec().image().elf().name();
    long pid = 0;
    String reason;
    try {
      HostProcess child = HostProcess.start();
      pid = child.pid();
      listener.processStarted(pid, image);
      reason = serve(child, cores);
    } catch (IOException e) {
      reason = "it could not be started: " + e.getMessage();
    }
    process = null;
    cores.forEach(core -> core.input().forget());
    FleetProgress last = told;
    instructionsOfTheDead.addAndGet(last == null ? 0 : last.instructions());
    told = null;
    List<CoreStream> orphans = cores.stream().filter(core -> core.result() == null).toList();
    boolean stopped = isStopping();
    List<CoreStream> next = new ArrayList<>();
    for (CoreStream core : orphans) {
      boolean again = pid != 0 && !stopped && restart <= restartsMax;
      if (again && !core.hasEnded() && !core.isBroken()) {
        next.add(core.restart(restart));
      }
      bury(core, stopped, reason);
    }
    String why = stopped ? STOPPED : "the core's process is gone: " + reason;
    synchronized (desk) {
      post.close(why);
      desk.leave(post);
      post = next.isEmpty() ? post : join(next);
    }
    if (!stopped && !orphans.isEmpty()) {
      listener.processDied(
          new IsolateListener.ProcessDeath(pid, image, reason, names(orphans), names(next)));
    }
    return next;
  }

  private static List<String> names(List<CoreStream> cores) {
    return cores.stream().map(core -> core.spec().name()).toList();
  }

  /** The last chunk and the result of a core whose process is gone. */
  private void bury(CoreStream core, boolean stopped, String reason) {
    CoreEnd end = stopped ? CoreEnd.STOPPED : CoreEnd.FAULTED;
    String detail = stopped ? STOPPED : "emulator process died: " + reason;
    if (!core.hasEnded() && !core.isBroken()) {
      deliver(core, core.lastChunk(end, detail));
    }
    core.close(end, detail);
    ended(core);
  }

  /** Follows a child until it is gone; returns why, in words. */
  private String serve(HostProcess child, List<CoreStream> cores) {
    String fault = "";
    try {
      post.open(child, Frame.json(Frame.Kind.JOB, job(cores)));
      began(child);
      for (Frame frame = child.read(); frame != null; frame = child.read()) {
        take(frame, child, cores);
      }
    } catch (StreamCorruptedException e) {
      fault = "it sent what makes no sense: " + LastWords.printable(e.getMessage());
      child.kill();
    } catch (IOException e) {
      child.kill(); // the pipe broke: its end says why
    }
    try {
      String end = child.awaitEnd();
      return fault.isEmpty() ? end : fault;
    } catch (InterruptedException e) {
      child.kill();
      return STOPPED;
    }
  }

  private HostJob job(List<CoreStream> cores) {
    return new HostJob(
        file,
        cores.getFirst().spec().image().elf().buildId(),
        fleet,
        cores.stream().map(core -> HostJob.CorePart.of(core.spec())).toList());
  }

  private void take(Frame frame, HostProcess child, List<CoreStream> cores) throws IOException {
    switch (frame.kind()) {
      case CHUNK -> {
        CoreStream core = cores.get(frame.core(cores.size()));
        chunk(core, frame.content());
        if (core.isBroken()) {
          refuse(child, Frame.ofCore(Frame.Kind.REFUSED, cores.indexOf(core), core.undelivered()));
        }
      }
      case OUTPUT -> output(cores.get(frame.core(cores.size())), frame.content());
      case INPUT_WANTED -> {
        int number = frame.core(cores.size());
        byte[] content = frame.content();
        if (content.length != Integer.BYTES) {
          throw new StreamCorruptedException("request of " + content.length + " bytes");
        }
        cores.get(number).input().ask(child, number, ByteBuffer.wrap(content).getInt());
      }
      case PROGRESS -> told = read(frame, FleetProgress.class);
      case ENDED -> {
        CoreResult result = read(frame, CoreResult.class);
        CoreStream core =
            cores.stream()
                .filter(c -> c.spec().name().equals(result.name()) && c.result() == null)
                .findFirst()
                .orElseThrow(() -> new StreamCorruptedException("no core " + result.name()));
        core.close(result);
        ended(core);
        post.ended(cores.indexOf(core));
      }
      case IMAGE -> image(frame.body(), cores);
      case ANSWER -> post.answered(frame.core(cores.size()), frame.content());
      default -> throw new StreamCorruptedException("frame for a child: " + frame.kind());
    }
  }

  /** A child that has ended takes nothing, but what it said before is still to be read. */
  private static void refuse(HostProcess child, Frame refusal) {
    try {
      child.send(refusal);
    } catch (IOException e) {
      // the end of its frames says what became of it
    }
  }

  private static <T> T read(Frame frame, Class<T> type) throws StreamCorruptedException {
    try {
      return frame.read(type);
    } catch (IOException | RuntimeException e) {
      throw new StreamCorruptedException(frame.kind() + ": " + e.getMessage());
    }
  }

  /**
   * Hands on an image that cores map; where the sink refuses it, chunks that name it may not go.
   */
  private void image(byte[] message, List<CoreStream> cores) throws StreamCorruptedException {
    String own = cores.getFirst().spec().image().elf().buildId();
    try {
      Image image = ConfluentFrame.decode(message, Image.class);
      Chunks.check(image);
      if (image.getBuildId().equals(own)) {
        throw new StreamCorruptedException("image " + own + ", which the parent knows");
      }
      images.send(image.getBuildId(), () -> image);
    } catch (StreamCorruptedException e) {
      throw e;
    } catch (CorruptChunkException e) {
      throw new StreamCorruptedException(e.getMessage());
    } catch (IOException e) {
      cores.forEach(core -> core.refused(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      cores.forEach(core -> core.refused("interrupted while the sink waited"));
    }
  }

  private void chunk(CoreStream core, byte[] message) throws StreamCorruptedException {
    if (core.isBroken()) {
      return; // it was on the way when the sink refused the one before
    }
    Chunk chunk;
    try {
      chunk = ConfluentFrame.decode(message, Chunk.class);
    } catch (CorruptChunkException e) {
      throw new StreamCorruptedException(e.getMessage());
    }
    core.check(chunk);
    deliver(core, chunk);
  }

  /** Hands a chunk on; while the sink waits nothing is read, and so the child waits too. */
  private void deliver(CoreStream core, Chunk chunk) {
    try {
      sink.chunk(chunk);
      core.noteTaken(chunk);
    } catch (IOException e) {
      core.refused(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // what comes after is not waited for either
      core.refused("interrupted while the sink waited");
    }
  }

  private static void output(CoreStream core, byte[] content) throws StreamCorruptedException {
    if (content.length == 0) {
      throw new StreamCorruptedException("output without a descriptor");
    }
    LinuxOptions linux = core.spec().options().linux();
    OutputStream to = content[0] == 2 ? linux.stderr() : linux.stdout();
    try {
      to.write(content, 1, content.length - 1);
    } catch (IOException e) {
      // nobody reads it any more: a program of this process would not end for that either
    }
  }

  private void ended(CoreStream core) {
    LinuxOptions linux = core.spec().options().linux();
    try {
      linux.stdout().flush();
      linux.stderr().flush();
    } catch (IOException e) {
      // as above
    }
    listener.coreEnded(core.result());
  }

  /** Sums over every start of every core so far. */
  FleetProgress progress() {
    FleetProgress now = told;
    return new FleetProgress(
        starts.size(),
        (int) starts.stream().filter(core -> core.result() != null).count(),
        instructionsOfTheDead.get() + (now == null ? 0 : now.instructions()),
        starts.stream().mapToLong(CoreStream::records).sum(),
        starts.stream().mapToLong(CoreStream::chunks).sum(),
        starts.stream().mapToLong(CoreStream::overruns).sum(),
        starts.stream().mapToLong(CoreStream::unhijackable).sum(),
        SinkWaits.NONE);
  }
}
