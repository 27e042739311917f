package dev.retstack.schema.file;

import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidDirectory;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * Writes a pyramid behind the index of a complete trace, in place of one that may be there. Chunks
 * and index are not touched. Until {@link #finish} the file has no seal, as one that was cut off
 * behind its index; {@link #close} without it leaves a complete trace without a pyramid.
 */
public final class TracePyramidWriter implements Closeable {
  private final TraceClaim claim;
  private final byte[] sync;
  private final TraceSeal seal;
  private final long begin;
  private final TraceOutput out;
  private boolean finished;

  private TracePyramidWriter(TraceClaim claim, byte[] sync, TraceSeal seal, long begin)
      throws IOException {
    this.claim = claim;
    this.sync = sync;
    this.seal = seal;
    this.begin = begin;
    out = TraceOutput.behind(claim.behind(begin), sync);
  }

  /**
   * Takes the seal and a pyramid off a trace, whose file stays held when this is closed.
   *
   * @throws CorruptTraceException where it is no complete trace with a right index
   */
  public static TracePyramidWriter open(TraceClaim claim) throws IOException {
    String file = claim.file().toString();
    try (TraceFileReader blocks = claim.read()) {
      long first = blocks.position();
      TraceFileReader.Tail tail = blocks.truncated() ? null : blocks.tail(first);
      if (tail == null || blocks.indexAtEnd(first) == null) {
        throw new CorruptTraceException(
            file,
            first,
            "not complete: it has no seal; make a complete one of it with retstack merge");
      }
      var _ = blocks.entryAt(tail.seal().getBytes());
      return new TracePyramidWriter(claim, blocks.sync(), tail.seal(), blocks.position());
    } catch (TraceIndex.WrongIndexException e) {
      throw new CorruptTraceException(
          file, 0, "its index is wrong; make a right one of it with retstack merge");
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
    try (out) {
      if (!finished) {
        end(TraceOutput.behind(claim.behind(begin), sync), 0, 0);
      }
    }
  }
}
