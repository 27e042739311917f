package dev.retstack.graph.input;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.graph.symbol.SymbolTable;
import it.unimi.dsi.fastutil.longs.LongCollection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.zip.CRC32C;

/**
 * The images that cores map beside their own: shared objects. A function of such an image has one
 * address everywhere behind the reader, wherever the image stood when it was called, and whatever
 * stood there before: the head of the image, which follows from its build-id, in the upper half,
 * and the address in the image in the lower half.
 *
 * <pre>
 *   bit 63   62 to 32           31 to 0
 *   1        CRC of build-id    address in the image
 * </pre>
 *
 * Addresses of a core's own image are as they are. Where two images have one head, the second is
 * not entered: its functions keep the addresses at which they ran.
 */
public final class OtherImages {
  /** Bits of the address in an image. */
  static final long ADDRESS = (1L << Integer.SIZE) - 1;

  /** No other image, and none can be entered. */
  public static final OtherImages NONE = new OtherImages(_ -> null, 0);

  /** Images at most: a core may name this many in each chunk. */
  private static final int IMAGES_MOST = 1 << 14;

  private static final int HEAD_BITS = 31;
  private static final int SHORT_ID = 8;

  private final Map<Integer, String> byHead = new HashMap<>();
  private final Function<String, ImageInfo> known;
  private final int most;

  /** Begins empty; {@code known} returns what is known of an image, or null. */
  public OtherImages(Function<String, ImageInfo> known) {
    this(known, IMAGES_MOST);
  }

  private OtherImages(Function<String, ImageInfo> known, int most) {
    this.known = known;
    this.most = most;
  }

  /**
   * The head of an image that a core maps, 0 where it has none: another image has it, or there are
   * too many.
   */
  public int enter(String imageId) {
    CRC32C sum = new CRC32C();
    sum.update(imageId.getBytes(UTF_8));
    int head = 1 << HEAD_BITS | (int) sum.getValue();
    String before = byHead.get(head);
    if (before == null && byHead.size() < most) {
      byHead.put(head, imageId);
      before = imageId;
    }
    return imageId.equals(before) ? head : 0;
  }

  /** Enters those of another state. */
  public void enterAll(OtherImages others) {
    others.byHead.values().forEach(this::enter);
  }

  /** The images in which these addresses lie, but for the core's own. */
  public Set<String> of(LongCollection pcs) {
    Set<String> ids = new TreeSet<>();
    pcs.forEach(
        (long pc) -> {
          String id = pc < 0 ? byHead.get((int) (pc >>> Integer.SIZE)) : null;
          if (id != null) {
            ids.add(id);
          }
        });
    return ids;
  }

  /** Whether an image is among them. */
  public boolean has(String imageId) {
    return byHead.containsValue(imageId);
  }

  /** Whether it is known what there is in it. */
  boolean isKnown(String imageId) {
    return known.apply(imageId) != null;
  }

  /** The image in which an address lies; null where that is the core's own. */
  ImageInfo of(long pc, ImageInfo own) {
    if (pc >= 0 || byHead.isEmpty()) {
      return null;
    }
    String id = byHead.get((int) (pc >>> Integer.SIZE));
    if (id == null) {
      return null;
    }
    ImageInfo image = known.apply(id);
    return image != null
        ? image
        : new ImageInfo(
            id,
            id.substring(0, Math.min(id.length(), SHORT_ID)),
            own.isa(),
            own.traits(),
            SymbolTable.EMPTY);
  }
}
