package dev.retstack.fleet.control;

import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import java.io.IOException;
import java.time.Instant;
import java.util.function.Consumer;

/** Where commands to a fleet come from, and where its answers go. */
public interface ControlChannel {
  /**
   * A command as it came, not yet understood.
   *
   * @param control the command
   * @param number its place in the log
   * @param sent when it came into the log
   */
  record Entry(Control control, long number, Instant sent) {
    /** The command's id as far as an answer repeats it: a forged one may be of any length. */
    public String id() {
      String id = control.getId();
      return id.substring(0, Math.min(id.length(), Command.ID_LENGTH_MAX));
    }
  }

  /**
   * Hands over, in this thread and in order, every command of the log so far; once, before {@link
   * #listen}.
   *
   * @throws IOException where the log cannot be read
   */
  void replay(Consumer<Entry> past) throws IOException, InterruptedException;

  /** From here on hands over each command that comes, in order, one at a time, until closed. */
  void listen(Consumer<Entry> commands);

  /** Sends an answer. From any thread; does not wait for its delivery. */
  void answer(ControlResult result);

  /** Hands nothing over any more when this returns; answers given before are on their way. */
  void close();

  /** No commands. */
  ControlChannel NONE =
      new ControlChannel() {
        @Override
        public void replay(Consumer<Entry> past) {}

        @Override
        public void listen(Consumer<Entry> commands) {}

        @Override
        public void answer(ControlResult result) {}

        @Override
        public void close() {}
      };
}
