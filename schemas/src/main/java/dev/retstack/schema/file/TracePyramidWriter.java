package dev.retstack.schema.file;

import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidDirectory;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Writes a pyramid behind the index of a complete trace, in place of one that may be there. Chunks
 * and index are not touched. Until {@link #finish} the file has no seal, as one that was cut off
 * behind its index; {@link #close} without it leaves a complete trace without a pyramid.
 */
public final class TracePyramidWriter implements Closeable {
  private final Closeable claim;
  private final FileChannel channel;
  private final byte[] sync;
  private final TraceSeal seal;
  private final long begin;
  private final TraceOutput out;
  private boolean finished;

  private TracePyramidWriter(
      Closeable claim, FileChannel channel, byte[] sync, TraceSeal seal, long begin)
      throws IOException {
    this.claim = claim;
    this.channel = channel;
    this.sync = sync;
    this.seal = seal;
    this.begin = begin;
    channel.truncate(begin);
    channel.position(begin);
    out = TraceOutput.behind(Channels.newOutputStream(channel), sync);
  }

  /**
   * Takes the seal and a pyramid off a trace.
   *
   * @throws CorruptTraceException where it is no complete trace with a right index
   * @throws IOException also where it is being written
   */
  public static TracePyramidWriter open(Path file) throws IOException {
    TraceSeal seal;
    long begin;
    byte[] sync;
    try (TraceFileReader blocks = TraceFileReader.open(file)) {
      long first = blocks.position();
      TraceFileReader.Tail tail = blocks.truncated() ? null : blocks.tail(first);
      if (tail == null || blocks.indexAtEnd(first) == null) {
        throw new CorruptTraceException(
            file.toString(),
            first,
            "not complete: it has no seal; make a complete one of it with retstack merge");
      }
      seal = tail.seal();
      sync = blocks.sync();
      var _ = blocks.entryAt(seal.getBytes());
      begin = blocks.position();
    } catch (TraceIndex.WrongIndexException e) {
      throw new CorruptTraceException(
          file.toString(), 0, "its index is wrong; make a right one of it with retstack merge");
    }
    Closeable claim = TraceFileWriter.claim(file);
    FileChannel channel = null;
    try {
      channel = FileChannel.open(file, StandardOpenOption.WRITE);
      return new TracePyramidWriter(claim, channel, sync, seal, begin);
    } catch (IOException | RuntimeException e) {
      if (channel != null) {
        channel.close();
      }
      claim.close();
      throw e;
    }
  }

  /**
   * Writes a block.
   *
   * @param from no call in it was entered before, and no tile begins before
   * @param to no call in it ends behind, and no tile
   * @return what the directory says of it
   */
  public PyramidPlace write(PyramidTiles tiles, long from, long to) throws IOException {
    long before = out.count();
    out.append(new TraceEntry(null, null, null, null, tiles, null));
    return new PyramidPlace(Math.toIntExact(out.count() - before), out.blockCrc32c(), from, to);
  }

  /**
   * Writes directory and seal.
   *
   * @param cores with the blocks in the order in which they were written
   * @return bytes of the pyramid
   */
  public long finish(List<PyramidCore> cores) throws IOException {
    PyramidDirectory directory =
        new PyramidDirectory(seal.getBytes(), seal.getCrc32c(), List.copyOf(cores));
    long at = begin + out.count();
    out.append(new TraceEntry(null, null, null, null, null, directory));
    final long bytes = out.count();
    end(out, at, out.blockCrc32c());
    finished = true;
    return bytes;
  }

  private void end(TraceOutput to, long pyramid, long crc) throws IOException {
    TraceSeal with =
        new TraceSeal(
            seal.getEntries(),
            seal.getBytes(),
            seal.getCrc32c(),
            seal.getIndexCrc32c(),
            pyramid,
            crc,
            seal.getCut());
    to.append(new TraceEntry(null, null, null, with, null, null));
  }

  @Override
  public void close() throws IOException {
    try (claim;
        channel;
        out) {
      if (!finished) {
        channel.truncate(begin);
        channel.position(begin);
        end(TraceOutput.behind(Channels.newOutputStream(channel), sync), 0, 0);
      }
    }
  }
}
