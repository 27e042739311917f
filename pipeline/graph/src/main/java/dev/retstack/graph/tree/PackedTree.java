package dev.retstack.graph.tree;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.ZstdBytes;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A call tree that takes no further rows, packed: the columns as a snapshot has them, compressed by
 * zstd, and the few rows that may still change. A snapshot takes the packed bytes unchanged.
 */
final class PackedTree {
  /** Most bytes that one row can have in a snapshot, its share of recorded values included. */
  private static final int ROW_BYTES_MAX = 400;

  /** Counts that stand there without any row. */
  private static final int FIXED_BYTES_MAX = 64;

  /** Usual size of a row in a snapshot. */
  private static final int ROW_BYTES = 10;

  private final int limit;
  private final int size;
  private final int rawBytes;
  private final byte[] packed;
  private final OpenRows open;

  private PackedTree(int limit, int size, int rawBytes, byte[] packed, OpenRows open) {
    this.limit = limit;
    this.size = size;
    this.rawBytes = rawBytes;
    this.packed = packed;
    this.open = open;
  }

  /**
   * Packs a tree, which is not used after this.
   *
   * @param limit rows that it may have
   */
  static PackedTree of(TreeColumns tree, int limit) {
    OpenRows open = OpenRows.of(tree);
    ByteOutput raw = new ByteOutput(ROW_BYTES * tree.size());
    try {
      tree.writeTo(raw);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    byte[] bytes = raw.take();
    return new PackedTree(limit, tree.size(), bytes.length, ZstdBytes.pack(bytes), open);
  }

  /** Rows. */
  int size() {
    return size;
  }

  /** What it takes. */
  long bytes() {
    return packed.length + open.bytes();
  }

  /** The rows that may still change. */
  OpenRows open() {
    return open;
  }

  /**
   * The tree as it is now.
   *
   * @param account of which its bytes are taken
   * @throws IOException where what was read is no such tree; never for one that was packed here
   */
  TreeColumns unpack(StateBudget.Account account) throws IOException {
    byte[] raw;
    try {
      raw = ZstdBytes.unpack(packed, rawBytes);
    } catch (CorruptChunkException e) {
      throw new IOException("corrupt snapshot: a packed tree: " + e.getMessage(), e);
    }
    ByteInput in = new ByteInput(raw);
    TreeColumns tree = new TreeColumns(limit, account);
    tree.readFrom(in, size);
    if (tree.size() != size || in.remaining() > 0) {
      throw new IOException("corrupt snapshot: a packed tree of another size than it says");
    }
    open.putInto(tree);
    return tree;
  }

  /** Writes the rows; those that are open are written {@linkplain OpenRows#writeTo apart}. */
  void writeTo(DataOutput out) throws IOException {
    out.writeInt(size);
    out.writeInt(rawBytes);
    out.writeInt(packed.length);
    out.write(packed);
  }

  /**
   * Reads what {@link #writeTo} wrote. It is unpacked once to check every row, so that later
   * readers find it sound.
   *
   * @param open has the rows that are open
   * @param limit rows that the tree may have
   */
  static PackedTree readFrom(DataInput in, DataInput open, int limit) throws IOException {
    int size = Fields.readCount(in, limit, "calls in a tree");
    int most =
        (int) Math.min((long) limit * ROW_BYTES_MAX + FIXED_BYTES_MAX, Integer.MAX_VALUE - 8);
    int rawBytes = Fields.readCount(in, most, "bytes of a tree");
    int length = Fields.readCount(in, most, "bytes of a packed tree");
    byte[] packed = new byte[length];
    in.readFully(packed);
    PackedTree tree =
        new PackedTree(limit, size, rawBytes, packed, OpenRows.readFrom(open, size, limit));
    tree.open.countValues(tree.unpack(StateBudget.UNLIMITED.open(0)));
    return tree;
  }
}
