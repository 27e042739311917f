package dev.retstack.fleet.control;

import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Commands from this process to a fleet that runs in it. Commands before the fleet starts are its
 * past.
 */
public final class LocalControlChannel implements ControlChannel {
  private final Consumer<ControlResult> answers;
  private final List<Entry> past = new ArrayList<>();
  private Consumer<Entry> listener;
  private int replayed;
  private long number;

  /**
   * @param answers hears every answer, from any thread, several at a time
   */
  public LocalControlChannel(Consumer<ControlResult> answers) {
    this.answers = answers;
  }

  /** Gives a command. When this returns the cores that wait for their turn have followed it. */
  public synchronized void send(Control control) {
    Entry entry = new Entry(control, number++, Instant.now());
    if (listener == null) {
      past.add(entry);
    } else {
      listener.accept(entry);
    }
  }

  @Override
  public synchronized void replay(Consumer<Entry> commands) {
    past.forEach(commands);
    replayed = past.size();
  }

  @Override
  public synchronized void listen(Consumer<Entry> commands) {
    listener = commands;
    past.subList(replayed, past.size()).forEach(commands); // given in the meantime
    past.clear();
  }

  @Override
  public void answer(ControlResult result) {
    answers.accept(result);
  }

  @Override
  public synchronized void close() {
    listener = null;
  }
}
