package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;

/** Bytes on their way from one end to the other. */
public final class Pipe {
  private static final int CAPACITY = 1 << 16;

  private final byte[] ring = new byte[CAPACITY];
  private long read;
  private long written;
  private boolean hasReader = true;
  private boolean hasWriter = true;

  /** The end that is read. */
  public OpenFile reader() {
    return new Reader();
  }

  /** The end that is written to. */
  public OpenFile writer() {
    return new Writer();
  }

  /** Two ends that are read and written: what one writes the other reads. */
  public static OpenFile[] pair() {
    Pipe there = new Pipe();
    Pipe back = new Pipe();
    return new OpenFile[] {new Both(there, back), new Both(back, there)};
  }

  private int filled() {
    return (int) (written - read);
  }

  private int take(byte[] into, int length) {
    int taken = Math.min(filled(), length);
    for (int i = 0; i < taken; i++) {
      into[i] = ring[(int) (read++ % CAPACITY)];
    }
    return taken;
  }

  private int put(byte[] bytes) {
    if (!hasReader) {
      throw new SystemCallException(Errno.EPIPE);
    }
    int put = Math.min(CAPACITY - filled(), bytes.length);
    for (int i = 0; i < put; i++) {
      ring[(int) (written++ % CAPACITY)] = bytes[i];
    }
    return put;
  }

  private int eventsOfReader() {
    return (filled() > 0 ? OpenFile.IN : 0) | (hasWriter ? 0 : OpenFile.HANG_UP);
  }

  private int eventsOfWriter() {
    return hasReader ? filled() < CAPACITY ? OpenFile.OUT : 0 : OpenFile.OUT | OpenFile.ERROR;
  }

  private long changesForReader() {
    return written + (hasWriter ? 0 : 1);
  }

  private long changesForWriter() {
    return read + (hasReader ? 0 : 1);
  }

  private abstract static class End implements OpenFile {
    @Override
    public int mode() {
      return PIPE;
    }

    @Override
    public boolean doesNotWait() {
      return false;
    }
  }

  private final class Reader extends End {
    @Override
    public long changes() {
      return changesForReader();
    }

    @Override
    public int events() {
      return eventsOfReader();
    }

    @Override
    public int read(byte[] into, int length) {
      return take(into, length);
    }

    @Override
    public void close() {
      hasReader = false;
    }
  }

  private final class Writer extends End {
    @Override
    public long changes() {
      return changesForWriter();
    }

    @Override
    public int events() {
      return eventsOfWriter();
    }

    @Override
    public int write(byte[] bytes) {
      return put(bytes);
    }

    @Override
    public void close() {
      hasWriter = false;
    }
  }

  /**
   * An end of a pair of sockets.
   *
   * @param out takes what is written
   * @param in holds what is read
   */
  private record Both(Pipe out, Pipe in) implements OpenFile {
    private static final int SOCKET = 0140777;

    @Override
    public int mode() {
      return SOCKET;
    }

    @Override
    public boolean doesNotWait() {
      return false;
    }

    @Override
    public long changes() {
      return in.changesForReader() + out.changesForWriter();
    }

    @Override
    public int events() {
      int closed = in.hasWriter ? 0 : IN | HANG_UP | READ_HANG_UP;
      return in.eventsOfReader() | closed | (out.eventsOfWriter() & OUT);
    }

    @Override
    public int read(byte[] into, int length) {
      return in.take(into, length);
    }

    @Override
    public int write(byte[] bytes) {
      return out.put(bytes);
    }

    @Override
    public void close() {
      out.hasWriter = false;
      in.hasReader = false;
    }
  }
}
