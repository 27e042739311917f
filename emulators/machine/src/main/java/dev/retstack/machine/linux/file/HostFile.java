package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A regular file of the host that is open. */
public final class HostFile implements OpenFile {
  private static final int ACCESS_MODE = 3;
  private static final int WRITE_ONLY = 1;

  /** No file of a program is longer. */
  private static final long SIZE_MOST = 1L << 40;

  private final FileChannel channel;
  private final Names.Place place;
  private final long number;
  private final int access;
  private final Quota quota;
  private boolean appends;
  private int mode;

  /**
   * @param number distinguishes it from other files: a loader knows by it what is loaded already
   * @param access how it was opened: 0 for reading, 1 for writing, 2 for both
   */
  private HostFile(FileChannel channel, Names.Place place, long number, int access, Quota quota)
      throws IOException {
    mode = place.mode();
    this.channel = channel;
    this.place = place;
    this.number = number;
    this.access = access & ACCESS_MODE;
    this.quota = quota;
  }

  static HostFile open(Names.Place place, long number, int access, Quota quota) throws IOException {
    boolean writes = (access & ACCESS_MODE) != 0;
    FileChannel channel =
        writes
            ? FileChannel.open(
                place.path(),
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS)
            : FileChannel.open(place.path(), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    return new HostFile(channel, place, number, access, quota);
  }

  /** Where it is on the host. */
  public Path path() {
    return place.path();
  }

  /** True where the program may change it. */
  boolean isWritable() {
    return place.isWritable();
  }

  /** All that is written goes to its end, or not. */
  public void appends(boolean value) {
    appends = value;
  }

  @Override
  public long inode(long descriptor) {
    return number;
  }

  @Override
  public int mode() throws IOException {
    mode = place.exists() ? place.mode() : mode; // which has no name any more
    return mode;
  }

  @Override
  public int names() throws IOException {
    return place.exists() ? place.names() : 0;
  }

  @Override
  public long size() throws IOException {
    return channel.size();
  }

  @Override
  public int read(byte[] into, int length) throws IOException {
    requireRead();
    return Math.max(0, channel.read(ByteBuffer.wrap(into, 0, length)));
  }

  @Override
  public int readAt(long at, byte[] into) throws IOException {
    requireRead();
    return Math.max(0, channel.read(ByteBuffer.wrap(into), at));
  }

  private void requireRead() {
    if (access == WRITE_ONLY) {
      throw new SystemCallException(Errno.EBADF);
    }
  }

  @Override
  public int write(byte[] bytes) throws IOException {
    long at = appends ? channel.size() : channel.position();
    int written = writeAt(at, bytes);
    channel.position(at + written);
    return written;
  }

  @Override
  public int writeAt(long at, byte[] bytes) throws IOException {
    if (access == 0) {
      throw new SystemCallException(Errno.EBADF);
    }
    grow(at + bytes.length);
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer, at + buffer.position());
    }
    return bytes.length;
  }

  /** What a file grows by counts as output: the host's disk must not be filled. */
  private void grow(long size) throws IOException {
    long more = size - channel.size();
    if (size > SIZE_MOST || (more > 0 && !quota.takeAll(more))) {
      throw new SystemCallException(Errno.ENOSPC);
    }
  }

  @Override
  public void truncate(long size) throws IOException {
    if (access == 0 || size < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    grow(size);
    long now = channel.size();
    if (size < now) {
      long position = channel.position();
      channel.truncate(size);
      channel.position(position);
    } else if (size > now) {
      channel.write(ByteBuffer.allocate(1), size - 1);
    }
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
    long to = base + offset;
    if (to < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    channel.position(to);
    return to;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
