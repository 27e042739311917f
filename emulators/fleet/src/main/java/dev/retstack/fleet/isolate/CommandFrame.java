package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.schema.Control;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import java.io.StreamCorruptedException;
import java.nio.ByteBuffer;
import java.time.Instant;

/**
 * A command on its way to a child.
 *
 * <pre>
 *  0        8               16
 *  +--------+---------------+---------
 *  | number | sent, ms 1970 | Control in its Confluent frame ...
 *  +--------+---------------+---------      numbers big-endian
 * </pre>
 */
final class CommandFrame {
  private static final int HEADER_BYTES = 16;

  private CommandFrame() {}

  /** A command that was sent in time. */
  static Frame past(Command command) {
    return frame(Frame.Kind.PAST, command, Instant.EPOCH);
  }

  /** A command that has come now. */
  static Frame of(Command command, Instant sent) {
    return frame(Frame.Kind.COMMAND, command, sent);
  }

  private static Frame frame(Frame.Kind kind, Command command, Instant sent) {
    boolean endless = command.deadline().equals(Instant.MAX);
    byte[] control =
        ConfluentFrame.encode(
            Control.newBuilder()
                .setId(command.id())
                .setDeadline(endless ? 0 : command.deadline().toEpochMilli())
                .setTarget(command.target().toString())
                .setName(command.order().name())
                .setArguments(command.order().arguments())
                .build());
    return new Frame(
        kind,
        ByteBuffer.allocate(HEADER_BYTES + control.length)
            .putLong(command.number())
            .putLong(sent.toEpochMilli())
            .put(control)
            .array());
  }

  /**
   * The command in a frame.
   *
   * @throws StreamCorruptedException where there is none
   */
  static ControlChannel.Entry read(Frame frame) throws StreamCorruptedException {
    byte[] body = frame.body();
    if (body.length < HEADER_BYTES) {
      throw new StreamCorruptedException("command of %d bytes".formatted(body.length));
    }
    ByteBuffer bytes = ByteBuffer.wrap(body);
    long number = bytes.getLong();
    Instant sent = Instant.ofEpochMilli(bytes.getLong());
    byte[] control = new byte[bytes.remaining()];
    bytes.get(control);
    try {
      return new ControlChannel.Entry(ConfluentFrame.decode(control, Control.class), number, sent);
    } catch (CorruptChunkException e) {
      throw new StreamCorruptedException(e.getMessage());
    }
  }
}
