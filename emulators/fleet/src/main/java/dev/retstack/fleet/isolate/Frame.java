package dev.retstack.fleet.isolate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.schema.Control;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StreamCorruptedException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * One message between parent and child:
 *
 * <pre>
 *  0                4                8        9
 *  +----------------+----------------+--------+---------
 *  | bytes from 8 on| CRC-32C of them| kind   | body ...
 *  +----------------+----------------+--------+---------
 *
 *  body of a core      core 4 | content             the core's number in the job
 *  body of a command   number 8 | sent 8, ms 1970 | Control in its Confluent frame
 * </pre>
 *
 * Numbers are big-endian. Structures are JSON. Chunks are as Kafka gets them, so the parent passes
 * them on without packing anew; a block of a recorded trace would be compressed twice.
 */
final class Frame {
  /** What a frame says. */
  enum Kind {
    /** To the child, first: a {@link HostJob}. */
    JOB(1),
    /** To the child: core, then bytes of its standard input; none = the end of it. */
    INPUT(2),
    /** To the child: core, then why none of its chunks is taken any more. */
    REFUSED(3),
    /** To the child: end every core in order. */
    STOP(4),
    /** To the parent: core, then a chunk in its Confluent frame. */
    CHUNK(5),
    /** To the parent: core, file descriptor (1 byte), then what the program wrote. */
    OUTPUT(6),
    /** To the parent: core, then how many bytes of input it would take (4 bytes). */
    INPUT_WANTED(7),
    /** To the parent: a {@link dev.retstack.fleet.progress.FleetProgress}. */
    PROGRESS(8),
    /**
     * To the parent: a {@link dev.retstack.fleet.progress.CoreResult}; its last chunk has gone
     * before.
     */
    ENDED(9),
    /** To the child, before its job: a command of the past. */
    PAST(10),
    /** To the child: a command. */
    COMMAND(11),
    /** To the parent: core, then its ControlResult in a Confluent frame. */
    ANSWER(12),
    /** To the parent: an Image in its Confluent frame, before the first chunk that names it. */
    IMAGE(13);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }

    static Kind of(int code) throws StreamCorruptedException {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new StreamCorruptedException("frame of unknown kind " + code);
    }
  }

  private static final ObjectMapper JSON =
      JsonMapper.builder().addModules(new Jdk8Module(), HostJob.json()).build();

  private static final int CORE_BYTES = 4;
  private static final int COMMAND_BYTES = 16;

  /** Bytes before the body. */
  static final int HEADER_BYTES = 9;

  private static final int LENGTH_AND_CRC_BYTES = 8;

  /** A frame at most: a chunk and the number of its core. */
  private static final int FRAME_BYTES_MAX = ConfluentFrame.MESSAGE_BYTES_MAX + 64;

  private final Kind kind;
  private final byte[] body;

  Frame(Kind kind, byte[] body) {
    this.kind = kind;
    this.body = body;
  }

  static Frame json(Kind kind, Object value) {
    try {
      return new Frame(kind, JSON.writeValueAsBytes(value));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(value + " is not JSON", e);
    }
  }

  static Frame ofCore(Kind kind, int core, byte[] bytes, int from, int length) {
    return new Frame(
        kind,
        ByteBuffer.allocate(CORE_BYTES + length).putInt(core).put(bytes, from, length).array());
  }

  static Frame ofCore(Kind kind, int core, byte[] bytes) {
    return ofCore(kind, core, bytes, 0, bytes.length);
  }

  static Frame ofCore(Kind kind, int core, String text) {
    return ofCore(kind, core, text.getBytes(StandardCharsets.UTF_8));
  }

  /** A command that was sent in time. */
  static Frame past(Command command) {
    return command(Kind.PAST, command, Instant.EPOCH);
  }

  /** A command that has come now. */
  static Frame command(Command command, Instant sent) {
    return command(Kind.COMMAND, command, sent);
  }

  private static Frame command(Kind kind, Command command, Instant sent) {
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
        ByteBuffer.allocate(COMMAND_BYTES + control.length)
            .putLong(command.number())
            .putLong(sent.toEpochMilli())
            .put(control)
            .array());
  }

  Kind kind() {
    return kind;
  }

  /** Everything after the kind; not to be changed. */
  byte[] body() {
    return body;
  }

  /**
   * The number of the core that this is about.
   *
   * @throws StreamCorruptedException where there is none below {@code cores}
   */
  int core(int cores) throws StreamCorruptedException {
    int core = body.length < CORE_BYTES ? -1 : ByteBuffer.wrap(body).getInt();
    if (core < 0 || core >= cores) {
      throw new StreamCorruptedException("%s of core %d of %d".formatted(kind, core, cores));
    }
    return core;
  }

  /** What follows the number of the core. */
  byte[] content() {
    return Arrays.copyOfRange(body, CORE_BYTES, body.length);
  }

  /** What follows the number of the core, as text. */
  String text() {
    return new String(body, CORE_BYTES, body.length - CORE_BYTES, StandardCharsets.UTF_8);
  }

  /** The structure in the body. */
  <T> T read(Class<T> type) throws IOException {
    return JSON.readValue(body, type);
  }

  /**
   * The command in it.
   *
   * @throws StreamCorruptedException where there is none
   */
  ControlChannel.Entry command() throws StreamCorruptedException {
    if (body.length < COMMAND_BYTES) {
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

  /**
   * The next frame of a stream; for one thread.
   *
   * @return null at the end, also where it comes in the middle of a frame: the sender died
   * @throws StreamCorruptedException for bytes that are no frame
   */
  static Frame read(InputStream in) throws IOException {
    byte[] header = in.readNBytes(LENGTH_AND_CRC_BYTES);
    if (header.length < LENGTH_AND_CRC_BYTES) {
      return null;
    }
    int length = ByteBuffer.wrap(header).getInt();
    int expected = ByteBuffer.wrap(header).getInt(4);
    if (length < 1 || length > FRAME_BYTES_MAX) {
      throw new StreamCorruptedException(
          "frame of %d bytes: expected 1 to %d".formatted(length, FRAME_BYTES_MAX));
    }
    byte[] bytes = in.readNBytes(length); // memory grows with what comes
    if (bytes.length < length) {
      return null;
    }
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    if ((int) crc.getValue() != expected) {
      throw new StreamCorruptedException(
          "frame of %d bytes: CRC-32C expected %08x, received %08x"
              .formatted(length, expected, (int) crc.getValue()));
    }
    byte[] body = new byte[length - 1];
    System.arraycopy(bytes, 1, body, 0, body.length);
    return new Frame(Kind.of(bytes[0] & 0xff), body);
  }

  /** Sends it. Safe for use by several threads; a call that waits is backpressure. */
  void write(OutputStream out) throws IOException {
    byte[] bytes = new byte[HEADER_BYTES + body.length];
    bytes[8] = (byte) kind.code();
    System.arraycopy(body, 0, bytes, HEADER_BYTES, body.length);
    CRC32C crc = new CRC32C();
    crc.update(bytes, 8, bytes.length - 8);
    ByteBuffer.wrap(bytes).putInt(bytes.length - 8).putInt((int) crc.getValue());
    synchronized (out) {
      out.write(bytes);
      out.flush();
    }
  }
}
