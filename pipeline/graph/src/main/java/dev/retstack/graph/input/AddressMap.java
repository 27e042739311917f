package dev.retstack.graph.input;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.RecordLinks;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Which images stand where in a core, beside its own. It follows the MAP and UNMAP records of the
 * core, and gives records the addresses that {@link OtherImages} describes. A mapping over another
 * replaces what it covers of it. What no mapping covers is of the core's own image.
 */
public final class AddressMap {
  /** What a mapping takes beside its build-id. */
  private static final int BYTES = 120;

  /** Addresses of an image that has a head are below this. */
  private static final long LINK_MAX = 1L << 32;

  private static final int ALL = 7;

  /**
   * Code of an image.
   *
   * @param start first address, {@code bytes} follow
   * @param link address that the first byte has in the image
   * @param head of the image; 0: it has none, addresses stay
   */
  private record Mapping(
      long start, long bytes, long link, int protection, String imageId, int head) {
    /** The last address. */
    long last() {
      return start + bytes - 1;
    }

    boolean overlaps(long from, long to) {
      return Long.compareUnsigned(start, to) <= 0 && Long.compareUnsigned(from, last()) <= 0;
    }

    /** The part of it from one address to another. */
    Mapping part(long from, long to) {
      return new Mapping(from, to - from + 1, link + (from - start), protection, imageId, head);
    }

    long cost() {
      return BYTES + SymbolTable.textBytes(imageId);
    }
  }

  private final OtherImages others;
  private final StateBudget.Account account;

  /** Images that it ever mapped: what was called of them is not forgotten with the mapping. */
  private Set<String> ids = Set.of(); // few cores map any

  /** By address. */
  private final List<Mapping> mappings = new ArrayList<>();

  /** Where addresses are looked for: outside nothing is mapped. */
  private long lowest = -1;

  private long highest;

  /** Whether a mapping was not kept, so that it cannot be compared. */
  private boolean incomplete;

  private long overlaps;
  private long notKept;
  private long unknown;

  /** Nothing is mapped; {@code account} of the bytes that mappings take. */
  public AddressMap(OtherImages others, StateBudget.Account account) {
    this.others = others;
    this.account = account;
  }

  /** Mappings that lay over others, since this was asked last. */
  public long takeOverlaps() {
    long taken = overlaps;
    overlaps = 0;
    return taken;
  }

  /** Mappings that were not kept, or whose image has no head, since this was asked last. */
  public long takeNotKept() {
    long taken = notKept;
    notKept = 0;
    return taken;
  }

  /** Mappings of images of which nothing is known, since this was asked last. */
  public long takeUnknown() {
    long taken = unknown;
    unknown = 0;
    return taken;
  }

  /** Whether nothing is mapped, for sure. */
  public boolean isEmpty() {
    return mappings.isEmpty() && !incomplete;
  }

  /** Whether a keyframe says the same. */
  public boolean isAs(Keyframe keyframe, List<String> images) {
    RecordBatch maps = keyframe.maps();
    if (incomplete) {
      return true;
    }
    boolean same = maps.size() == mappings.size();
    for (int i = 0; same && i < maps.size(); i++) {
      Mapping m = mappings.get(i);
      same =
          m.start == maps.selfPc[i]
              && m.bytes == maps.fromPc[i]
              && m.link == maps.retP[i]
              && m.protection == (maps.fp[i] & ALL)
              && m.imageId.equals(images.get(maps.depth[i]));
    }
    return same;
  }

  /** From here on what a keyframe says is in force. */
  public void begin(Keyframe keyframe, List<String> images) {
    mappings.forEach(m -> account.give(m.cost()));
    mappings.clear();
    incomplete = false;
    RecordBatch maps = keyframe.maps();
    for (int i = 0; i < maps.size(); i++) {
      change(maps, i, images);
    }
    measure();
  }

  /** Gives a batch a keyframe of these stacks and of the mappings in force. */
  public void setKeyframe(Keyframe stacks, RecordBatch batch) {
    List<String> images = new ArrayList<>(batch.images());
    RecordBatch maps = new RecordBatch(mappings.size());
    for (Mapping m : mappings) {
      int image = images.indexOf(m.imageId);
      if (image < 0) {
        image = images.size();
        images.add(m.imageId);
      }
      maps.add(RecordBatch.MAP, 0, image, m.start, m.bytes, m.link, m.protection);
    }
    batch.setImages(images);
    batch.setKeyframe(stacks.withMaps(maps));
  }

  /** A keyframe in the addresses of images. */
  public Keyframe behind(Keyframe keyframe) {
    RecordBatch moved = moved(keyframe.records(), List.of());
    return moved == null ? keyframe : keyframe.withStacks(moved);
  }

  /** Records in the addresses of images; itself where they are that already. */
  public RecordBatch behind(RecordBatch batch) {
    RecordBatch moved = moved(batch, batch.images());
    return moved == null ? batch : moved;
  }

  /** Null where all records have these addresses already. */
  private RecordBatch moved(RecordBatch batch, List<String> images) {
    if (mappings.isEmpty() && images.isEmpty()) {
      return null;
    }
    RecordBatch moved = null;
    boolean changed = false;
    for (int i = 0; i < batch.size(); i++) {
      byte kind = batch.kind[i];
      if (RecordBatch.isOfMaps(kind)) {
        if (Keyframe.mapFault(batch, i, images.size()).isEmpty()) {
          change(batch, i, images);
          measure();
          changed = true;
        }
        continue;
      }
      long self = hasFunction(kind) ? of(batch.selfPc[i]) : batch.selfPc[i];
      long from = hasPlace(kind) ? of(batch.fromPc[i]) : batch.fromPc[i];
      long fp = kind == RecordBatch.SMASHED ? of(batch.fp[i]) : batch.fp[i];
      if (self != batch.selfPc[i] || from != batch.fromPc[i] || fp != batch.fp[i]) {
        moved = moved == null ? copy(batch) : moved;
        moved.selfPc[i] = self;
        moved.fromPc[i] = from;
        moved.fp[i] = fp;
      }
    }
    if (moved != null && batch.isLinked()) {
      if (changed) { // equal addresses may be different functions
        new RecordLinks().fill(moved);
      } else {
        System.arraycopy(batch.links(), 0, moved.links(), 0, batch.size());
        moved.setLinked();
      }
    }
    return moved;
  }

  private static boolean hasFunction(byte kind) {
    return switch (kind) {
      case RecordBatch.ENTRY,
          RecordBatch.EXIT,
          RecordBatch.FUNCTION,
          RecordBatch.MARK,
          RecordBatch.SMASHED ->
          true;
      default -> false;
    };
  }

  private static boolean hasPlace(byte kind) {
    return switch (kind) {
      case RecordBatch.ENTRY,
          RecordBatch.EXIT,
          RecordBatch.FUNCTION,
          RecordBatch.SYS_ENTER,
          RecordBatch.INTERRUPT_ENTER,
          RecordBatch.INTERRUPT_EXIT,
          RecordBatch.SMASHED ->
          true;
      default -> false;
    };
  }

  private static RecordBatch copy(RecordBatch batch) {
    RecordBatch copy = new RecordBatch(batch.size());
    copy.addAll(batch, 0, batch.size());
    return copy;
  }

  /** An address of code as it is behind the reader. */
  public long of(long pc) {
    if (Long.compareUnsigned(pc, lowest) < 0 || Long.compareUnsigned(pc, highest) > 0) {
      return pc;
    }
    int at = lastAt(pc);
    if (at < 0) {
      return pc;
    }
    Mapping m = mappings.get(at);
    boolean inside = m.head != 0 && Long.compareUnsigned(pc, m.last()) <= 0;
    return inside ? (long) m.head << Integer.SIZE | (m.link + (pc - m.start)) : pc;
  }

  /** Index of the last mapping that begins at this address or below; negative where none does. */
  private int lastAt(long pc) {
    int low = 0;
    int high = mappings.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(mappings.get(middle).start, pc) <= 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return high;
  }

  /** Takes a MAP or UNMAP record. */
  private void change(RecordBatch batch, int i, List<String> images) {
    long start = batch.selfPc[i];
    long last = start + batch.fromPc[i] - 1;
    boolean isMap = batch.kind[i] == RecordBatch.MAP;
    boolean replaced = cut(start, last);
    if (!isMap) {
      return;
    }
    overlaps += replaced ? 1 : 0;
    String id = images.get(batch.depth[i]);
    long link = batch.retP[i];
    boolean fits = link >= 0 && link < LINK_MAX && batch.fromPc[i] <= LINK_MAX - link;
    int head = fits && isEntered(id) ? others.enter(id) : 0;
    Mapping made = new Mapping(start, batch.fromPc[i], link, (int) batch.fp[i] & ALL, id, head);
    notKept += head == 0 ? 1 : 0;
    unknown += head != 0 && !others.isKnown(id) ? 1 : 0;
    keep(lastAt(start) + 1, made);
  }

  private boolean isEntered(String id) {
    boolean has = ids.contains(id);
    long cost = BYTES + SymbolTable.textBytes(id);
    if (!has && ids.size() < Keyframe.MAPS_MOST && account.take(cost)) {
      has = added(id);
    }
    return has;
  }

  private boolean added(String id) {
    ids = ids.isEmpty() ? new LinkedHashSet<>() : ids;
    return ids.add(id);
  }

  /** Takes out what is mapped from one address to another; whether anything was. */
  private boolean cut(long from, long to) {
    boolean any = false;
    int i = Math.max(0, lastAt(from));
    while (i < mappings.size() && Long.compareUnsigned(mappings.get(i).start, to) <= 0) {
      Mapping m = mappings.get(i);
      if (!m.overlaps(from, to)) {
        i++;
        continue;
      }
      any = true;
      account.give(m.cost());
      mappings.remove(i);
      if (Long.compareUnsigned(m.start, from) < 0 && keep(i, m.part(m.start, from - 1))) {
        i++;
      }
      if (Long.compareUnsigned(to, m.last()) < 0) {
        keep(i, m.part(to + 1, m.last()));
        break;
      }
    }
    return any;
  }

  private boolean keep(int index, Mapping m) {
    if (mappings.size() == Keyframe.MAPS_MOST || !account.take(m.cost())) {
      incomplete = true;
      notKept++;
      return false;
    }
    mappings.add(index, m);
    return true;
  }

  private void measure() {
    lowest = mappings.isEmpty() ? -1 : mappings.getFirst().start;
    highest = mappings.isEmpty() ? 0 : mappings.getLast().last();
  }

  /** Writes what is mapped. */
  public void writeTo(DataOutput out) throws IOException {
    out.writeBoolean(incomplete);
    out.writeInt(ids.size());
    for (String id : ids) {
      Fields.writeText(out, id);
    }
    out.writeInt(mappings.size());
    for (Mapping m : mappings) {
      out.writeLong(m.start);
      out.writeLong(m.bytes);
      out.writeLong(m.link);
      out.writeByte(m.protection);
      Fields.writeText(out, m.imageId);
      out.writeBoolean(m.head != 0);
    }
  }

  /** Reads what {@link #writeTo} wrote into this new map. */
  public void readFrom(DataInput in) throws IOException {
    incomplete = in.readBoolean();
    for (int left = Fields.readCount(in, Keyframe.MAPS_MOST, "images"); left > 0; left--) {
      String id = Fields.readText(in);
      added(id);
      others.enter(id);
      account.charge(BYTES + SymbolTable.textBytes(id));
    }
    int count = Fields.readCount(in, Keyframe.MAPS_MOST, "mappings");
    for (int i = 0; i < count; i++) {
      long start = in.readLong();
      long bytes = in.readLong();
      long link = in.readLong();
      int protection = in.readByte();
      String id = Fields.readText(in);
      boolean hasHead = in.readBoolean();
      Mapping before = i == 0 ? null : mappings.get(i - 1);
      boolean inOrder =
          bytes > 0
              && Long.compareUnsigned(start + bytes - 1, start) >= 0
              && (before == null || Long.compareUnsigned(start, before.last()) > 0);
      boolean fits = !hasHead || (link >= 0 && link < LINK_MAX && bytes <= LINK_MAX - link);
      if (!inOrder || !fits || (hasHead && !ids.contains(id))) {
        throw new IOException("corrupt snapshot: mapping %d at %x".formatted(i, start));
      }
      Mapping m = new Mapping(start, bytes, link, protection, id, hasHead ? others.enter(id) : 0);
      account.charge(m.cost());
      mappings.add(m);
    }
    measure();
  }
}
