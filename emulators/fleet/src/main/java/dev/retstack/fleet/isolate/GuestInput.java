package dev.retstack.fleet.isolate;

import java.io.IOException;
import java.io.InputStream;
import java.io.StreamCorruptedException;
import java.util.Arrays;

/**
 * Standard input of one program, in the parent: read when the program asks. What was read for a
 * process that died is kept for the next one.
 */
final class GuestInput {
  private static final int BYTES_MAX = 64 << 10;

  private final InputStream in;
  private HostProcess asker;
  private int core;
  private boolean reading;
  private byte[] unclaimed;

  GuestInput(InputStream in) {
    this.in = in;
  }

  /**
   * Answers when there is something, or at the end of input.
   *
   * @throws StreamCorruptedException where an earlier request is still open
   */
  synchronized void ask(HostProcess process, int number, int most) throws StreamCorruptedException {
    if (asker != null) {
      throw new StreamCorruptedException("core %d asked twice for input".formatted(number));
    }
    asker = process;
    core = number;
    if (unclaimed != null) {
      give();
    } else if (!reading) {
      reading = true;
      int bytes = Math.clamp(most, 1, BYTES_MAX);
      Thread.ofPlatform().daemon().name("guest-input").start(() -> fetch(bytes));
    }
  }

  /** The process that asked is gone. */
  synchronized void forget() {
    asker = null;
  }

  private void fetch(int most) {
    byte[] bytes = new byte[most];
    int count;
    try {
      count = in.read(bytes);
    } catch (IOException e) {
      count = -1; // as in.read does for a program of this process: the end
    }
    synchronized (this) {
      reading = false;
      unclaimed = Arrays.copyOf(bytes, Math.max(count, 0));
      if (asker != null) {
        give();
      }
    }
  }

  private void give() {
    try {
      asker.send(Frame.ofCore(Frame.Kind.INPUT, core, unclaimed));
      unclaimed = unclaimed.length == 0 ? unclaimed : null; // the end stays the end
    } catch (IOException e) {
      // it died: its successor gets the bytes
    } finally {
      asker = null;
    }
  }
}
