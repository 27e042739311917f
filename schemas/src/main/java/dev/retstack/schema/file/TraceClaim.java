package dev.retstack.schema.file;

import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file that is held for one trace, from before its first byte until its pyramid is written: no
 * other process, and nobody else in this one, begins a trace there meanwhile. A pipe or a device
 * may have several.
 *
 * <p>All that the holder reads and writes goes through one channel, which stays open: where a
 * process closes any other channel of a file, Linux gives up the locks that it has on it.
 */
public final class TraceClaim implements Closeable {
  /** Files that this process holds, by their inodes: another channel to one must not be opened. */
  private static final Set<Object> HELD = ConcurrentHashMap.newKeySet();

  private final Path file;
  private final FileChannel channel;
  private final Object key;

  private TraceClaim(Path file, FileChannel channel, Object key) {
    this.file = file;
    this.channel = channel;
    this.key = key;
  }

  /**
   * Holds a file, which is made where there is none.
   *
   * @throws IOException also where another process, or this one, is writing a trace there
   */
  public static TraceClaim of(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      return new TraceClaim(file, null, null);
    }
    if (!Files.exists(file)) {
      Files.newByteChannel(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
    }
    Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    if (key == null || !HELD.add(key)) {
      throw held();
    }
    FileChannel channel = null;
    try {
      channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (channel.tryLock() != null) {
        return new TraceClaim(file, channel, key);
      }
    } catch (OverlappingFileLockException e) {
      // by this process: the same answer
    } catch (IOException | RuntimeException e) {
      release(channel, key);
      throw e;
    }
    release(channel, key);
    throw held();
  }

  private static IOException held() {
    return new IOException("another recording is being written there");
  }

  private static void release(FileChannel channel, Object key) throws IOException {
    try (channel) {
      HELD.remove(key);
    }
  }

  /** The file that is held. */
  public Path file() {
    return file;
  }

  /**
   * Makes sure that what was written is still what is found under the name.
   *
   * @throws IOException where somebody removed the file, or put another one in its place
   */
  public void requireThere() throws IOException {
    if (channel == null) {
      return;
    }
    boolean isThere =
        Files.exists(file)
            && key.equals(Files.readAttributes(file, BasicFileAttributes.class).fileKey());
    if (!isThere) {
      throw new IOException("it was removed or replaced while it was written");
    }
  }

  /** Where a trace begins; what the file held is gone. */
  OutputStream begin() throws IOException {
    if (channel == null) {
      return Files.newOutputStream(file);
    }
    channel.truncate(0);
    channel.position(0);
    return output();
  }

  /** A stream that writes from the channel's position on. */
  private OutputStream output() {
    return new FilterOutputStream(Channels.newOutputStream(channel)) {
      @Override
      public void write(byte[] bytes, int from, int length) throws IOException {
        out.write(bytes, from, length);
      }

      @Override
      public void close() {
        // the claim closes it
      }
    };
  }

  /** A stream that writes after this many bytes of the file; the rest of the file is removed. */
  OutputStream behind(long bytes) throws IOException {
    channel.truncate(bytes);
    channel.position(bytes);
    return output();
  }

  /** Reads the trace, as {@link TraceFileReader#open}; before anything else is written. */
  public TraceFileReader read() throws IOException {
    if (channel == null) {
      return TraceFileReader.open(file);
    }
    channel.position(0);
    InputStream in =
        new FilterInputStream(Channels.newInputStream(channel)) {
          @Override
          public void close() {
            // the claim closes it
          }
        };
    return TraceFileReader.open(file.toString(), in, channel);
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      release(channel, key);
    }
  }
}
