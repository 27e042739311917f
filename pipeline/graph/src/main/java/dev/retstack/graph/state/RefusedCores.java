package dev.retstack.graph.state;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.snapshot.Fields;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cores that a state did not begin because the budget had no room. The first ones are named, and
 * the others are counted together. So a producer of many names takes no memory.
 */
public final class RefusedCores {
  /** Cores that are named. */
  static final int NAMED = 100;

  /** Characters of a name that are kept. */
  private static final int NAME_MAX = 100;

  private static final String OTHERS = "(others)";

  private final Map<CoreKey, Long> chunks = new LinkedHashMap<>();

  /**
   * A core.
   *
   * @param chunks of it that were refused
   */
  public record Row(CoreKey key, long chunks) {
    /** Why. */
    public String reason() {
      return "STATE_FULL: the states of its member have no room for a new core (--state-mib)";
    }
  }

  void add(CoreKey key) {
    CoreKey named = new CoreKey(cut(key.session()), cut(key.core()));
    boolean room = chunks.containsKey(named) || chunks.size() < NAMED;
    chunks.merge(room ? named : new CoreKey("", OTHERS), 1L, Long::sum);
  }

  private static String cut(String name) {
    return name.length() <= NAME_MAX ? name : name.substring(0, NAME_MAX) + "...";
  }

  /** In the order in which they came; the last one may stand for all others. */
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    chunks.forEach((key, count) -> rows.add(new Row(key, count)));
    return rows;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(chunks.size());
    for (Map.Entry<CoreKey, Long> core : chunks.entrySet()) {
      Fields.writeText(out, core.getKey().session());
      Fields.writeText(out, core.getKey().core());
      out.writeLong(core.getValue());
    }
  }

  void readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, NAMED + 1, "cores that were refused");
    for (int i = 0; i < count; i++) {
      chunks.put(new CoreKey(Fields.readText(in), Fields.readText(in)), in.readLong());
    }
  }
}
