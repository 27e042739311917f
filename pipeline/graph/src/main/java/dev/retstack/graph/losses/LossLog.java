package dev.retstack.graph.losses;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Where records of one core are missing, in order. Beyond the limit the last row grows over the
 * later ones, so that rows always add up to what is lost. Which chunks are missing is kept for each
 * loss: a chunk between two losses came, and may come a second time.
 */
public final class LossLog {
  /** Rows of one core. */
  static final int ROWS_MAX = 1000;

  /** Ranges of missing chunks of one core. */
  static final int RANGES_MAX = 1 << 16;

  private static final int ROW_BYTES = 72;
  private static final int RANGE_BYTES = 2 * Long.BYTES;

  private final StateBudget.Account account;

  private final List<Loss> rows = new ArrayList<>(0);

  /** Missing chunks, ascending: the number of the first, then of the first one behind. */
  private final LongArrayList missing = new LongArrayList();

  private long losses;

  public LossLog(StateBudget.Account account) {
    this.account = account;
  }

  public void add(Loss loss) {
    losses++;
    if (rows.isEmpty() || (rows.size() < ROWS_MAX && account.take(ROW_BYTES))) {
      rows.add(loss);
    } else {
      rows.set(rows.size() - 1, rows.getLast().with(loss));
    }
    if (loss.kind() == Loss.Kind.MISSING && loss.fromChunk() < loss.toChunk()) {
      addMissing(loss.fromChunk(), loss.toChunk());
    }
  }

  /** Beyond the limit the last range grows over the later ones, as the last row does. */
  private void addMissing(long from, long to) {
    if (missing.isEmpty()
        || (missing.topLong() < from
            && missing.size() < 2 * RANGES_MAX
            && account.take(RANGE_BYTES))) {
      missing.add(from);
      missing.add(to);
    } else {
      missing.set(missing.size() - 1, to);
    }
  }

  /** Whether this chunk of the core is missing. */
  public boolean isMissing(long sequence) {
    int at = Collections.binarySearch(missing, sequence);
    return at >= 0 ? at % 2 == 0 : -(at + 1) % 2 == 1;
  }

  /** The rows, in the order of the stream. */
  public List<Loss> rows() {
    return Collections.unmodifiableList(rows);
  }

  /** Records lost since this time, and those of the last row where that began before. */
  public long since(long time) {
    long sum = 0;
    for (int i = rows.size() - 1; i >= 0 && rows.get(i).until() > time; i--) {
      sum = Saturating.sum(sum, rows.get(i).records());
    }
    return sum;
  }

  /** Losses; more than there are rows where the last one stands for several. */
  public long losses() {
    return losses;
  }

  public void writeTo(DataOutput out) throws IOException {
    out.writeLong(losses);
    out.writeInt(rows.size());
    for (Loss loss : rows) {
      Fields.writeText(out, loss.kind().name());
      out.writeLong(loss.fromChunk());
      out.writeLong(loss.toChunk());
      out.writeLong(loss.record());
      out.writeLong(loss.records());
      out.writeLong(loss.after());
      out.writeLong(loss.until());
    }
    Fields.writeVarint(out, missing.size() / 2);
    long last = 0;
    for (int i = 0; i < missing.size(); i++) {
      Fields.writeVarint(out, missing.getLong(i) - last);
      last = missing.getLong(i);
    }
  }

  public void readFrom(DataInput in) throws IOException {
    losses = in.readLong();
    int count = Fields.readCount(in, ROWS_MAX, "losses of one core");
    if (losses < count) {
      throw new IOException("corrupt snapshot: " + count + " rows of " + losses + " losses");
    }
    account.charge((long) ROW_BYTES * count);
    for (int i = 0; i < count; i++) {
      rows.add(
          new Loss(
              Fields.readEnum(in, Loss.Kind.class),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong()));
    }
    long ranges = Fields.readVarint(in);
    if (ranges < 0 || ranges > Math.min(losses, RANGES_MAX)) {
      throw new IOException("corrupt snapshot: " + ranges + " missing ranges of " + losses);
    }
    account.charge(RANGE_BYTES * ranges);
    long last = 0;
    for (int i = 0; i < 2 * ranges; i++) {
      long end = last + Fields.readVarint(in);
      if (end < last || (end == last && i > 0)) {
        throw new IOException("corrupt snapshot: missing chunks are not in order");
      }
      missing.add(end);
      last = end;
    }
  }
}
