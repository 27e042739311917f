package dev.retstack.fleet.isolate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StreamCorruptedException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One message between parent and child. Structures are JSON, chunks are as Kafka gets them; what
 * belongs to a core begins with its number in the job (4 bytes, big-endian).
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
    /** To the parent: a {@link dev.retstack.fleet.FleetProgress}. */
    PROGRESS(8),
    /** To the parent: a {@link dev.retstack.fleet.CoreResult}; its last chunk has gone before. */
    ENDED(9),
    /** To the child, before its job: a command of the past, see {@link CommandFrame}. */
    PAST(10),
    /** To the child: a command, see {@link CommandFrame}. */
    COMMAND(11),
    /** To the parent: core, then its ControlResult in a Confluent frame. */
    ANSWER(12);

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

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int CORE_BYTES = 4;

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
      throw new IllegalArgumentException(value + " is no JSON", e);
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
}
