package dev.retstack.graph.calls;

import static dev.retstack.graph.symbol.SymbolTable.textBytes;

import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.snapshot.StateLog;
import dev.retstack.graph.snapshot.StateParts;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.ZstdBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Optional;

/**
 * A core that left memory until its next chunk: its parts as the log of the state has them, one
 * behind the other, compressed by zstd; and in the clear how far it came.
 */
public final class RestingCore extends KnownCore {
  /**
   * Bytes of the parts of a core that rests: a larger one would be slow to wake, and need much room
   * at once. A tree of 4,000 rows has 40 KB.
   */
  private static final int RAW_MAX = 128 << 10;

  /** What it takes beside the packed bytes and its names. */
  private static final int BYTES = 818;

  /** Sizes of its parts. */
  private final int frames;

  private final int tree;
  private final int logs;
  private final byte[] packed;

  /** Whether the log of the state holds this tree. */
  private boolean treeKept;

  private final CoreSummary summary;

  /** What it reserved of the budget while it was awake. */
  private final long awake;

  private RestingCore(
      CoreGraph core, int frames, int tree, int logs, byte[] packed, boolean treeKept) {
    super(core);
    this.frames = frames;
    this.tree = tree;
    this.logs = logs;
    this.packed = packed;
    this.treeKept = treeKept;
    this.summary = core.summary();
    this.awake = core.account().reserved();
    core.account()
        .rest(
            BYTES
                + packed.length
                + textBytes(summary.endDetail())
                + textBytes(key().session())
                + textBytes(key().core()));
  }

  /**
   * A core goes to rest, and is not used after this; empty where it is too large for that.
   *
   * @param treeKept whether the log of the state holds its tree
   */
  static Optional<RestingCore> of(CoreGraph core, StateParts.Core parts, boolean treeKept) {
    int raw = parts.size();
    if (raw > RAW_MAX) {
      return Optional.empty();
    }
    byte[] all = new byte[raw];
    System.arraycopy(parts.frames(), 0, all, 0, parts.frames().length);
    System.arraycopy(parts.tree(), 0, all, parts.frames().length, parts.tree().length);
    System.arraycopy(parts.logs(), 0, all, raw - parts.logs().length, parts.logs().length);
    return Optional.of(
        new RestingCore(
            core,
            parts.frames().length,
            parts.tree().length,
            parts.logs().length,
            ZstdBytes.pack(all),
            treeKept));
  }

  @Override
  public CoreSummary summary() {
    return summary;
  }

  /** What it will reserve of the budget once it is awake. */
  public long awakeBytes() {
    return awake;
  }

  /** Whether the log of the state holds its tree. */
  boolean isTreeKept() {
    return treeKept;
  }

  /** The core's parts, in the form of the state's log. */
  StateParts.Core parts() {
    try {
      return unpack(packed, frames, tree, logs);
    } catch (IOException e) {
      throw new UncheckedIOException("a core that was sound does not unpack: " + key(), e);
    }
  }

  private static StateParts.Core unpack(byte[] packed, int frames, int tree, int logs)
      throws IOException {
    byte[] all;
    try {
      all = ZstdBytes.unpack(packed, frames + tree + logs);
    } catch (CorruptChunkException e) {
      throw new IOException("corrupt snapshot: a core at rest: " + e.getMessage(), e);
    }
    return new StateParts.Core(
        Arrays.copyOf(all, frames),
        Arrays.copyOfRange(all, frames, frames + tree),
        Arrays.copyOfRange(all, frames + tree, all.length));
  }

  /** Unpacks what a copy of the log has {@link StateLog#AT_REST}. */
  public static StateParts.Core unpack(byte[] part) throws IOException {
    ByteInput in = new ByteInput(part);
    int frames = Fields.readCount(in, RAW_MAX, "bytes of frames");
    int tree = Fields.readCount(in, RAW_MAX - frames, "bytes of a tree");
    int logs = Fields.readCount(in, RAW_MAX - frames - tree, "bytes of logs");
    byte[] packed = new byte[in.remaining()];
    in.readFully(packed);
    return unpack(packed, frames, tree, logs);
  }

  @Override
  public void writeChanges(StateLog log, StateChanges to) throws IOException {
    if (log.isCopy()) {
      ByteOutput part = new ByteOutput(3 * Integer.BYTES + packed.length);
      part.writeInt(frames);
      part.writeInt(tree);
      part.writeInt(logs);
      part.write(packed);
      log.put(to, part(StateLog.AT_REST), StateLog.NONE, part);
    } else if (touched) {
      StateParts.Core parts = parts();
      if (!treeKept) {
        writtenTree = log.put(to, part(StateLog.TREE), writtenTree, parts.tree());
        treeKept = true;
      }
      writtenFrames = log.put(to, part(""), writtenFrames, parts.frames());
      writtenLogs = log.put(to, part(StateLog.LOGS), writtenLogs, parts.logs());
      touched = false;
    }
  }
}
