package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * What a file descriptor stands for. An operation that a kind of file does not have fails as on
 * Linux.
 */
public interface OpenFile extends Closeable {
  /** Type and permissions of a pipe: what a program's standard streams are. */
  int PIPE = 0010600;

  /** Type and permissions of /dev/null. */
  int CHARACTER_DEVICE = 0020666;

  /** In {@link #events}: a read does not wait. */
  int IN = 1;

  /** In {@link #events}: a write does not wait. */
  int OUT = 4;

  /** In {@link #events}: nobody reads what would be written. */
  int ERROR = 8;

  /** In {@link #events}: the other end is closed. */
  int HANG_UP = 16;

  /** {@code st_mode}. */
  int mode() throws IOException;

  /**
   * {@code st_ino}.
   *
   * @param descriptor that the file is known by; 0 for none
   */
  default long inode(long descriptor) {
    return descriptor + 1;
  }

  /** {@code st_nlink}. */
  default int names() throws IOException {
    return 1;
  }

  /** {@code st_size}. */
  default long size() throws IOException {
    return 0;
  }

  /** In {@link #events}: the other end of a socket is closed. */
  int READ_HANG_UP = 0x2000;

  /** How often {@link #events} may have become another; only that it differs has a meaning. */
  default long changes() {
    return 0;
  }

  /** Which operations would not wait, as {@code poll} numbers them. */
  default int events() {
    return IN | OUT;
  }

  /** True where neither a read nor a write ever waits for another thread. */
  default boolean doesNotWait() {
    return true;
  }

  /** What a read must have room for, in bytes: less is EINVAL, and does not wait. */
  default int leastRead() {
    return 0;
  }

  /** Reads up to {@code length} bytes to the start of {@code into}; 0 at the end of the file. */
  default int read(byte[] into, int length) throws IOException {
    throw new SystemCallException(Errno.EBADF);
  }

  /** Fills {@code into} from a place in the file, as far as the file goes. */
  default int readAt(long place, byte[] into) throws IOException {
    throw new SystemCallException(Errno.ESPIPE);
  }

  /** Writes; how many bytes it takes now. */
  default int write(byte[] bytes) throws IOException {
    throw new SystemCallException(Errno.EBADF);
  }

  /** Writes to a place in the file; how many bytes it takes. */
  default int writeAt(long place, byte[] bytes) throws IOException {
    throw new SystemCallException(Errno.ESPIPE);
  }

  /** Cuts the file off, or fills it up with zeroes. */
  default void truncate(long size) throws IOException {
    throw new SystemCallException(Errno.EINVAL);
  }

  /** Moves the place of the next read; {@code whence} is 0 start, 1 here, 2 end. */
  default long seek(long offset, int whence) throws IOException {
    throw new SystemCallException(Errno.ESPIPE);
  }

  @Override
  default void close() throws IOException {}

  /** Input from the host; not closed with the descriptor. */
  record Input(InputStream stream) implements OpenFile {
    @Override
    public int mode() {
      return PIPE;
    }

    @Override
    public int read(byte[] into, int length) throws IOException {
      return Math.max(0, stream.read(into, 0, length));
    }
  }

  /** How much a program may yet print and write; more print is an {@link OutputLimitException}. */
  final class Quota {
    private long left;

    Quota(long bytes) {
      left = bytes;
    }

    /** Takes as much as there is of what is wanted. */
    int take(int wanted) {
      int taken = (int) Math.min(left, wanted);
      left -= taken;
      return taken;
    }

    /** Takes all of it, or nothing: then false. */
    boolean takeAll(long wanted) {
      boolean isThere = wanted <= left;
      left -= isThere ? wanted : 0;
      return isThere;
    }
  }

  /** A program printed more than it may. */
  final class OutputLimitException extends IOException {
    private static final long serialVersionUID = 1L;

    OutputLimitException() {
      super("no more output");
    }
  }

  /** Output to the host; not closed with the descriptor. */
  record Output(OutputStream stream, Quota quota) implements OpenFile {
    @Override
    public int mode() {
      return PIPE;
    }

    @Override
    public int write(byte[] bytes) throws IOException {
      int taken = quota.take(bytes.length);
      stream.write(bytes, 0, taken);
      if (taken < bytes.length) {
        throw new OutputLimitException();
      }
      return taken;
    }
  }

  /** /dev/null. */
  final class Null implements OpenFile {
    @Override
    public int mode() {
      return CHARACTER_DEVICE;
    }

    @Override
    public int read(byte[] into, int length) {
      return 0;
    }

    @Override
    public int write(byte[] bytes) {
      return bytes.length;
    }

    @Override
    public long seek(long offset, int whence) {
      return 0;
    }
  }

  /** /dev/zero; or /dev/urandom, where there is a source of random bytes. */
  final class Source implements OpenFile {
    private final SplittableRandom random;

    Source(SplittableRandom random) {
      this.random = random;
    }

    @Override
    public int mode() {
      return CHARACTER_DEVICE;
    }

    @Override
    public int read(byte[] into, int length) {
      byte[] bytes = new byte[length];
      if (random != null) {
        random.nextBytes(bytes);
      }
      System.arraycopy(bytes, 0, into, 0, length);
      return length;
    }

    @Override
    public int write(byte[] bytes) {
      return bytes.length;
    }

    @Override
    public long seek(long offset, int whence) {
      return 0;
    }
  }

  /** What the kernel writes when it is read from its start, such as {@code /proc/self/maps}. */
  final class Text implements OpenFile {
    private final Supplier<String> source;
    private byte[] bytes = {};
    private long place;

    public Text(Supplier<String> source) {
      this.source = source;
    }

    @Override
    public int mode() {
      return 0100444;
    }

    @Override
    public int read(byte[] into, int length) {
      byte[] piece = new byte[length];
      int got = readAt(place, piece);
      System.arraycopy(piece, 0, into, 0, got);
      place += got;
      return got;
    }

    @Override
    public int readAt(long at, byte[] into) {
      if (at == 0) {
        bytes = source.get().getBytes(StandardCharsets.UTF_8);
      }
      int got = Math.clamp(bytes.length - at, 0, into.length);
      System.arraycopy(bytes, (int) Math.min(at, bytes.length), into, 0, got);
      return got;
    }

    @Override
    public long seek(long offset, int whence) {
      long to = whence == 1 ? place + offset : offset;
      if (whence < 0 || whence > 1 || to < 0) {
        throw new SystemCallException(Errno.EINVAL);
      }
      place = to;
      return place;
    }
  }

  /** A word about the process that the kernel reports, and that a program may set. */
  final class Word implements OpenFile {
    /** What is behind it. */
    public interface Holder {
      byte[] get();

      void set(byte[] word);
    }

    private final Holder holder;
    private int place;

    public Word(Holder holder) {
      this.holder = holder;
    }

    @Override
    public int mode() {
      return 0100644;
    }

    @Override
    public int read(byte[] into, int length) {
      byte[] word = holder.get();
      byte[] line = Arrays.copyOf(word, word.length + 1);
      line[word.length] = '\n';
      int got = Math.clamp(line.length - place, 0, length);
      System.arraycopy(line, Math.min(place, line.length), into, 0, got);
      place += got;
      return got;
    }

    @Override
    public int write(byte[] bytes) {
      holder.set(bytes);
      return bytes.length;
    }
  }
}
