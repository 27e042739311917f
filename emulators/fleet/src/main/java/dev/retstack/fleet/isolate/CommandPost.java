package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.ControlDesk;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.io.StreamCorruptedException;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Commands of one child, and its cores' answers. Every core that got a command answers it once. If
 * the child does not, because the core has ended or the child is gone, the post answers for it.
 * Only what the child did is taken from its answer.
 */
final class CommandPost implements ControlDesk.Post {
  /** Most open commands of a child: one with more does not listen, and further ones are refused. */
  static final int OPEN_MAX = 1_000;

  /** Longest text in an answer, in characters. */
  private static final int TEXT_MAX = 4_096;

  private record Open(Command command, Set<Integer> cores) {}

  private final List<CoreStream> cores;
  private final ControlDesk desk;
  private final BlockingQueue<Frame> queue = new LinkedBlockingQueue<>();
  private final Map<Long, Open> open = new HashMap<>();
  private volatile List<Command> past = List.of();
  private String closed = "";
  private Thread sender;

  CommandPost(List<CoreStream> cores, ControlDesk desk) {
    this.cores = List.copyOf(cores);
    this.desk = desk;
  }

  /** Before anything else: commands of the past, which the cores begin with. */
  synchronized void join(List<Command> commands) {
    past = commands;
  }

  /** Sends the past, then has everything sent that came in the meantime or comes later. */
  void open(HostProcess child, Frame job) throws IOException {
    for (Command command : past) { // not locked: a child that does not read holds up itself only
      child.send(Frame.past(command));
    }
    child.send(job);
    synchronized (this) {
      past = List.of();
      sender = Thread.ofVirtual().start(() -> send(child));
    }
  }

  /** Runs in a separate thread: a child that does not read must not hold up the others. */
  private void send(HostProcess child) {
    try {
      while (true) {
        child.send(queue.take());
      }
    } catch (InterruptedException | IOException e) {
      // the child is gone, or as good as that
    }
  }

  @Override
  public SortedMap<Integer, CoreIdentity> running() {
    SortedMap<Integer, CoreIdentity> running = new TreeMap<>();
    for (int i = 0; i < cores.size(); i++) {
      if (cores.get(i).result() == null) {
        running.put(i, cores.get(i).spec().identity());
      }
    }
    return running;
  }

  @Override
  public synchronized void command(Command command, Instant sent, List<Integer> to) {
    if (!closed.isEmpty()) {
      to.forEach(core -> refuse(command, core, closed));
    } else if (open.size() >= OPEN_MAX) {
      to.forEach(
          core ->
              refuse(
                  command, core, "its process has not answered %d commands".formatted(OPEN_MAX)));
    } else {
      open.put(command.number(), new Open(command, new HashSet<>(to)));
      queue.add(Frame.command(command, sent));
    }
  }

  /**
   * Passes an answer on.
   *
   * @throws StreamCorruptedException where it is none
   */
  synchronized void answered(int core, byte[] message) throws StreamCorruptedException {
    ControlResult said;
    try {
      said = ConfluentFrame.decode(message, ControlResult.class);
    } catch (CorruptChunkException e) {
      throw new StreamCorruptedException(e.getMessage());
    }
    if (said.getStatus() != ControlStatus.APPLIED && said.getStatus() != ControlStatus.REFUSED) {
      throw new StreamCorruptedException(
          "answer of core %s: %s".formatted(cores.get(core).spec().name(), said.getStatus()));
    }
    Open asked = open.get(said.getNumber());
    if (asked == null || !take(asked, core)) {
      return; // it was answered for when the core had ended
    }
    answer(
        asked.command(),
        core,
        ControlResult.newBuilder()
            .setStatus(said.getStatus())
            .setReasons(printable(said.getReasons()))
            .setSitesOn(said.getSitesOn())
            .setSitesOff(said.getSitesOff())
            .setSites(said.getSites())
            .setSitesAll(said.getSitesAll())
            .setRecords(said.getRecords())
            .setTime(said.getTime())
            .setSettings(printable(said.getSettings())));
  }

  private static List<String> printable(List<String> texts) {
    return texts.stream().map(text -> Visible.cut(text, TEXT_MAX)).toList();
  }

  private boolean take(Open asked, int core) {
    boolean was = asked.cores().remove(core);
    if (asked.cores().isEmpty()) {
      open.remove(asked.command().number());
    }
    return was;
  }

  /** A core has ended: it answers nothing any more. */
  synchronized void ended(int core) {
    String why = "the core has ended: " + cores.get(core).result().ending().detail();
    for (Open asked : List.copyOf(open.values())) {
      if (take(asked, core)) {
        refuse(asked.command(), core, why);
      }
    }
  }

  /** The child is gone. */
  synchronized void close(String why) {
    closed = why;
    if (sender != null) {
      sender.interrupt();
    }
    open.values()
        .forEach(asked -> asked.cores().forEach(core -> refuse(asked.command(), core, why)));
    open.clear();
  }

  private void refuse(Command command, int core, String why) {
    answer(
        command,
        core,
        ControlResult.newBuilder().setStatus(ControlStatus.REFUSED).setReasons(List.of(why)));
  }

  private void answer(Command command, int number, ControlResult.Builder answer) {
    CoreStream core = cores.get(number);
    desk.answer(
        command.id(),
        command.number(),
        answer
            .setCore(core.spec().name())
            .setIsa(core.spec().image().isa().name())
            .setImage(core.spec().image().elf().buildId())
            .setImageName(core.spec().image().elf().name())
            .setClockUnit(core.unit()));
  }
}
