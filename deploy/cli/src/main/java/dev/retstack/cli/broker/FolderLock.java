package dev.retstack.cli.broker;

import dev.retstack.cli.command.FileTrouble;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Allows one broker at a time in a folder: two would write the same logs, and both would fail. The
 * kernel holds the lock, and drops it when the process ends in any way. The file names the owner,
 * for the message of a second broker.
 */
final class FolderLock implements AutoCloseable {
  /** Name of the file that is locked. */
  static final String FILE = "broker.lock";

  /**
   * Files that this process has locked. To open such a file again and close it would drop the lock.
   */
  private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

  private final Path file;
  private final FileChannel channel;
  private final Instant since = Instant.now().truncatedTo(ChronoUnit.SECONDS);

  private FolderLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /**
   * Takes a folder that is there.
   *
   * @throws BrokerException where another broker has it, saying which
   */
  static FolderLock take(Path dir) throws BrokerException {
    Path file = null;
    FolderLock taken = null;
    try {
      file = dir.toRealPath().resolve(FILE);
      if (OWN.add(file)) {
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = null;
        try {
          lock = channel.tryLock();
        } finally {
          if (lock == null) {
            channel.close();
            OWN.remove(file);
          }
        }
        if (lock != null) {
          taken = new FolderLock(file, channel);
          taken.writeAddress("not serving yet");
          return taken;
        }
      }
      throw new BrokerException(
          dir
              + " is in use by another broker ("
              + holder(file)
              + "): use that one, stop it first, or choose another folder with --dir");
    } catch (BrokerException e) {
      throw e;
    } catch (IOException e) {
      if (taken != null) {
        taken.close();
      } else if (file != null) {
        OWN.remove(file);
      }
      throw new BrokerException(
          FileTrouble.whyNotFolder("lock", dir, e) + "; choose another folder with --dir", e);
    }
  }

  /** Says where the broker answers. */
  void writeAddress(String address) throws IOException {
    String text = "pid " + ProcessHandle.current().pid() + ", " + address + ", since " + since;
    channel.truncate(0);
    channel.write(ByteBuffer.wrap((text + "\n").getBytes(StandardCharsets.UTF_8)), 0);
  }

  private static String holder(Path file) throws IOException {
    if (OWN.contains(file)) {
      return "pid " + ProcessHandle.current().pid() + ", this process";
    }
    String said = Files.readString(file).strip();
    return said.isEmpty() ? "it did not say which" : said;
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close " + file, e);
    } finally {
      OWN.remove(file);
    }
  }
}
