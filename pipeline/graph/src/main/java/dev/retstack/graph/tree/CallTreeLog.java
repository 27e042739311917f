package dev.retstack.graph.tree;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.losses.Loss;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The first calls of a core in the order of their entries. A call knows its parent. Parents enter
 * first, so a call whose parent is not kept is not kept either. Other events inside calls are rows
 * of another {@link TreeKind}.
 *
 * <p>A log that takes no further rows is {@linkplain #seal packed}; open calls can still end. To
 * read a row, or to change one that has ended, unpacks the log until it is sealed again.
 */
public final class CallTreeLog {
  /** Not kept, or no parent. */
  public static final int NONE = -1;

  /** No time is known. */
  public static final long UNKNOWN = -1;

  /** About what a row takes that is not packed. */
  private static final int ROW_BYTES = 64;

  /** What a row takes beside the columns that has values, and stands in no other. */
  private static final int BESIDE_BYTES = 192;

  private final int limit;
  private final StateBudget.Account account;

  /** The rows; null where they are packed. */
  private TreeColumns columns;

  private PackedTree packed;

  /** The packed rows that were {@linkplain #keep kept} last. */
  private PackedTree kept;

  private boolean keptClosed;
  private long packedBytes;
  private int size;

  /** Rows for which there is room. */
  private int capacity;

  /** Whether there was no room for more, once. */
  private boolean closed;

  public CallTreeLog(int limit, StateBudget.Account account) {
    this.limit = limit;
    this.account = account;
    this.columns = new TreeColumns(limit, account);
  }

  /** Whether no call is kept any more. */
  public boolean isFull() {
    return size >= capacity && !grow();
  }

  /**
   * Whether no row other than a call is kept any more: their values are stored beside the columns.
   */
  public boolean isFullBeside() {
    if (!isFull() && !account.fits(BESIDE_BYTES)) {
      close();
    }
    return isFull();
  }

  /** Whether it takes no row any more, and did not ask for room to know that. */
  public boolean isOver() {
    return closed || size >= limit;
  }

  private void close() {
    closed = true;
    capacity = 0;
  }

  private boolean grow() {
    if (closed || size >= limit) {
      return false;
    }
    // a packed log grows again only where the limit has become higher since
    boolean fits = packed == null || account.fits((long) ROW_BYTES * size);
    if (fits && (columns().capacity() > size || columns.grow())) {
      capacity = columns.capacity();
    } else {
      close();
    }
    return !closed;
  }

  /** Packs a log that is full: nothing but the ends of open calls is expected. */
  public void seal() {
    if (columns != null && size > 0 && isFull()) {
      PackedTree tree = PackedTree.of(columns, limit);
      columns.release();
      hold(tree);
    }
  }

  /**
   * Packs a full log at once where the budget counts its bytes: a tree in columns takes four times
   * as much until a checkpoint packs it, and thousands of cores begin at the same time.
   */
  public void sealWhereBounded() {
    if (columns != null && isOver() && account.isBounded()) {
      seal();
    }
  }

  private void hold(PackedTree tree) {
    columns = null;
    packed = tree;
    packedBytes = tree.bytes();
    account.charge(packedBytes);
  }

  /** Whether it is packed. */
  boolean isPacked() {
    return packed != null;
  }

  /** Takes all rows out but those that get a new number. */
  void keepOnly(int[] numbers, int left) {
    columns().keepOnly(numbers, left);
    size = left;
  }

  TreeColumns columns() {
    if (packed != null) {
      try {
        account.give(packedBytes);
        columns = packed.unpack(account);
      } catch (IOException e) {
        throw new UncheckedIOException("a tree that was sound does not unpack", e);
      }
      packed = null;
    }
    return columns;
  }

  /** Place of a row among the open ones of a packed log; negative where it is in the columns. */
  private int open(int row) {
    return packed == null ? NONE : packed.open().find(row);
  }

  /** Number of the new call; the log is not full. */
  public int enter(long selfPc, int parent, long time) {
    return enter(TreeKind.CALL, selfPc, parent, time);
  }

  /** Number of the new row; the log is not full. */
  public int enter(TreeKind kind, long selfPc, int parent, long time) {
    size++;
    return columns.enter(kind, selfPc, parent, time);
  }

  public void finish(int row, long time, Ending ending) {
    int at = open(row);
    if (at >= 0) {
      packed.open().finish(at, time, ending);
    } else {
      columns().finish(row, time, ending);
    }
  }

  /** Sets the call in which a row lies, where that is known only now. */
  public void setParent(int row, int parent) {
    assert parent < row;
    int at = open(row);
    if (at >= 0) {
      packed.open().setParent(at, parent);
    } else {
      columns().setParent(row, parent);
    }
  }

  /** The row, which stands in no other, is of this task. */
  public void setTask(int row, long task, int instance) {
    columns().setTask(row, task, instance);
  }

  /** Sets how much of a row's time was not run by it, and how much does not count in totals. */
  public void setTimes(int row, long elsewhere, long notCounted) {
    int at = open(row);
    if (at >= 0) {
      packed.open().setTimes(at, elsewhere, notCounted);
    } else {
      columns().setTimes(row, elsewhere, notCounted);
    }
  }

  /** A call that a loss cut off had ended by now. */
  public void bound(int row, long now) {
    int at = open(row);
    if (at >= 0) {
      packed.open().bound(at, now);
    } else if (packed == null) {
      columns.bound(row, now); // a packed row was not cut off, or has its bound
    }
  }

  /** Task of a row that stands in no other row. */
  public long task(int row) {
    return columns().task(row);
  }

  /** Instance of the task of a row that stands in no other row, from 1. */
  public int instance(int row) {
    return columns().instance(row);
  }

  /** How much of its time the call did not run: other tasks, interrupts, losses. */
  public long notRun(int row) {
    return columns().notRun(row);
  }

  /** How much of its time does not count in totals. */
  public long leftOut(int row) {
    return columns().leftOut(row);
  }

  /** Time by which a truncated call had ended, {@link #UNKNOWN} where that is unknown. */
  public long deadBy(int call) {
    return columns().deadBy(call);
  }

  /** The loss of a row of {@link TreeKind#LOSS}. */
  public Loss loss(int row) {
    return Loss.of(arguments(row).values());
  }

  /** Calls kept. */
  public int size() {
    return size;
  }

  /** selfPc of the function; of a system call its number; of a mark the function, 0 for none. */
  public long selfPc(int call) {
    return columns().selfPc(call);
  }

  /** Number of the enclosing call, smaller than {@code call}, or {@link #NONE}. */
  public int parent(int call) {
    return columns().parent(call);
  }

  public long enter(int row) {
    int at = open(row);
    return at >= 0 ? packed.open().enter(at) : columns().enter(row);
  }

  /**
   * Time of the end; of the last record before the loss where it was truncated; of the entry where
   * it is open.
   */
  public long exit(int call) {
    return columns().exit(call);
  }

  public Ending ending(int call) {
    return columns().ending(call);
  }

  /** What the row is. */
  public TreeKind kind(int call) {
    return columns().kind(call);
  }

  /** What was recorded when it began; see {@link TreeKind}. */
  public RecordedValues arguments(int call) {
    return columns().arguments().get(call);
  }

  /** What was recorded when it ended. */
  public RecordedValues results(int call) {
    return columns().results().get(call);
  }

  /** Where the arguments of this row are put. */
  public ValueLog argumentsOf(int row) {
    return open(row) >= 0 ? packed.open().arguments() : columns().arguments();
  }

  /** Where the results of this row are put. */
  public ValueLog resultsOf(int row) {
    return open(row) >= 0 ? packed.open().results() : columns().results();
  }

  /** Writes the rows as they are, packed where they are. */
  public void writeTo(DataOutput out) throws IOException {
    out.writeBoolean(closed);
    out.writeBoolean(packed != null);
    if (packed != null) {
      packed.writeTo(out);
    } else {
      columns.writeTo(out);
    }
  }

  /** Writes those of packed rows that are open: of the others they are part. */
  public void writeOpenTo(DataOutput out) throws IOException {
    if (packed != null) {
      packed.open().writeTo(out);
    }
  }

  /** Whether what {@link #writeTo} would write is what stood here when it was kept. */
  public boolean isKept() {
    return packed != null && packed == kept && closed == keptClosed;
  }

  /** The rows are written as they are now. */
  public void keep() {
    kept = packed;
    keptClosed = closed;
  }

  /** The rows are not written anywhere as they are now. */
  public void unkeep() {
    kept = null;
  }

  /** Reads what {@link #writeTo} and {@link #writeOpenTo} wrote into this empty log. */
  public void readFrom(DataInput in, DataInput open) throws IOException {
    boolean wasClosed = in.readBoolean();
    if (in.readBoolean()) {
      hold(PackedTree.readFrom(in, open, limit));
      size = packed.size();
    } else {
      columns.readFrom(in, limit);
      size = columns.size();
      capacity = columns.capacity();
    }
    if (wasClosed) {
      close(); // a row that is missing is not followed by others, whatever room there is now
    }
    keep();
  }
}
