package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.Errno;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What a file descriptor stands for. An operation that a kind of file does not have fails as on
 * Linux.
 */
interface OpenFile extends Closeable {
  /** Type and permissions of a pipe: what a program's standard streams are. */
  int PIPE = 0010600;

  /** Type and permissions of /dev/null. */
  int CHARACTER_DEVICE = 0020666;

  /** Type and permissions of a regular file that may be read. */
  int REGULAR_READABLE = 0100444;

  /** {@code st_mode}. */
  int mode();

  /**
   * {@code st_ino}.
   *
   * @param descriptor that the file is known by; 0 for none
   */
  default long inode(long descriptor) {
    return descriptor + 1;
  }

  /** {@code st_size}. */
  default long size() throws IOException {
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

  /** Writes all bytes. */
  default void write(byte[] bytes) throws IOException {
    throw new SystemCallException(Errno.EBADF);
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

  /** How much a program may yet print; more is an {@link OutputLimitException}. */
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
  }

  /** A program printed more than it may. */
  final class OutputLimitException extends IOException {
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
    public void write(byte[] bytes) throws IOException {
      int taken = quota.take(bytes.length);
      stream.write(bytes, 0, taken);
      if (taken < bytes.length) {
        throw new OutputLimitException();
      }
    }
  }

  /** /dev/null. */
  record Null() implements OpenFile {
    @Override
    public int mode() {
      return CHARACTER_DEVICE;
    }

    @Override
    public int read(byte[] into, int length) {
      return 0;
    }

    @Override
    public void write(byte[] bytes) {}

    @Override
    public long seek(long offset, int whence) {
      return 0;
    }
  }

  /**
   * A file of the host, for reading.
   *
   * @param path of the file
   * @param number tells it from other files: a loader knows by it what is loaded already
   */
  record HostFile(FileChannel channel, Path path, long number) implements OpenFile {
    static HostFile open(Path path, long number) throws IOException {
      return new HostFile(FileChannel.open(path, StandardOpenOption.READ), path, number);
    }

    @Override
    public long inode(long descriptor) {
      return number;
    }

    @Override
    public int mode() {
      return REGULAR_READABLE;
    }

    @Override
    public long size() throws IOException {
      return channel.size();
    }

    @Override
    public int read(byte[] into, int length) throws IOException {
      return Math.max(0, channel.read(ByteBuffer.wrap(into, 0, length)));
    }

    @Override
    public int readAt(long place, byte[] into) throws IOException {
      return Math.max(0, channel.read(ByteBuffer.wrap(into), place));
    }

    @Override
    public long seek(long offset, int whence) throws IOException {
      long base =
          switch (whence) {
            case 0 -> 0;
            case 1 -> channel.position();
            case 2 -> channel.size();
            default -> throw new SystemCallException(Errno.EINVAL);
          };
      long place = base + offset;
      if (place < 0) {
        throw new SystemCallException(Errno.EINVAL);
      }
      channel.position(place);
      return place;
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
