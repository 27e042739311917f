package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.wire.ConfluentFrame;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * In the child: commands from the parent, answers to it. The parent speaks for the fleet, so only
 * answers of cores go there.
 */
final class ParentChannel implements ControlChannel {
  private final FrameWriter out;
  private final Map<String, Integer> numbers;
  private final List<Entry> past;
  private final BlockingQueue<Entry> commands = new LinkedBlockingQueue<>();
  private Thread follower;

  /**
   * @param numbers of the cores, by name
   * @param past commands from before the child's start
   */
  ParentChannel(FrameWriter out, Map<String, Integer> numbers, List<Entry> past) {
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
      out.write(Frame.ofCore(Frame.Kind.ANSWER, core, ConfluentFrame.encode(result)));
    } catch (IOException e) {
      Runtime.getRuntime().halt(CoreHost.ORPHANED); // nobody listens any more
    }
  }

  @Override
  public void close() {
    if (follower != null) {
      follower.interrupt();
    }
  }
}
