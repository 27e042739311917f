package dev.retstack.service.images;

import dev.retstack.schema.wire.Digest;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Places of images in the topic, and the messages of those that were asked for last: as many of
 * each as bounds allow. The first content of a build-id counts, and before that the one that was
 * used first. A pure table; it does not decide who reads an image again.
 */
final class ImageTable {
  /** What is known of an image. */
  sealed interface Lookup {}

  /** The image is in memory. */
  @SuppressWarnings("ArrayRecordComponent") // looked at once, never compared nor a key
  record Held(byte[] message) implements Lookup {}

  /** The image left memory, and the topic has it there. */
  record InTopic(ImagePlace place) implements Lookup {}

  /** The image left memory, and the topic no longer has it where it stood last. */
  record Gone(ImagePlace place) implements Lookup {}

  /** The image never came. */
  enum Unknown implements Lookup {
    INSTANCE
  }

  /** The image never came, or its place was forgotten: only reading the whole topic shows which. */
  enum Forgotten implements Lookup {
    INSTANCE
  }

  /** What becomes of an image that was announced. */
  enum Came {
    /** The image is the first content under its build-id, or that content again. */
    TAKEN,
    /** Another content came first under this build-id. */
    REFUSED,
    /** The place of an earlier content may have been forgotten: only the whole topic shows it. */
    UNSURE
  }

  private record Content(ImagePlace place, String digest) {}

  /** Bytes that a place takes beside the characters of its build-id, in both maps, about. */
  static final int PLACE_BYTES = 300;

  /** Bits that each forgotten build-id sets in {@link #forgottenIds}. */
  private static final int FORGOTTEN_BITS = 3;

  private final long bytesMax;
  private final long placeBytesMax;

  /** By when they were used, longest ago first. */
  private final LinkedHashMap<String, Content> places = new LinkedHashMap<>(16, 0.75f, true);

  /** A Bloom filter: it has every forgotten build-id, and few others. */
  private final BitSet forgottenIds = new BitSet();

  private final Set<String> gone = new HashSet<>();

  /** Digests of the contents that were used first, by {@link ImageClaims#key}, oldest first. */
  private final Map<String, String> claims = new LinkedHashMap<>();

  /** By when they were used, longest ago first. */
  private final LinkedHashMap<String, byte[]> held = new LinkedHashMap<>(16, 0.75f, true);

  private long bytes;
  private long placeBytes;
  private long forgotten;

  /**
   * Knows no image.
   *
   * @param bytesMax of messages held; one that is longer is never held
   * @param placeBytesMax of places, by {@link #placeBytes(String)}; a producer that fills the topic
   *     with unused images costs no more than this
   */
  ImageTable(long bytesMax, long placeBytesMax) {
    this.bytesMax = bytesMax;
    this.placeBytesMax = placeBytesMax;
  }

  /** These contents count, whatever is announced before them. */
  void claimed(Map<String, String> earlier) {
    claims.putAll(earlier);
    drop(claims, new HashMap<>());
  }

  /** The digest of the content that was used first; empty where none was. */
  Optional<String> claim(String buildId) {
    return Optional.ofNullable(claims.get(ImageClaims.key(buildId)));
  }

  /**
   * The content of an image that is known is used: it counts from now on.
   *
   * @return what is to be written of that, by {@link ImageClaims#key}; null for one that gives way
   */
  Map<String, String> used(String buildId) {
    Content content = places.get(buildId);
    String key = ImageClaims.key(buildId);
    Map<String, String> changed = new HashMap<>();
    if (content != null && claims.putIfAbsent(key, content.digest()) == null) {
      changed.put(key, content.digest());
      drop(claims, changed);
    }
    return changed;
  }

  private static void drop(Map<String, String> claims, Map<String, String> changed) {
    Iterator<String> oldest = claims.keySet().iterator();
    while (claims.size() > ImageClaims.CLAIMS_MAX) {
      changed.put(oldest.next(), null);
      oldest.remove();
    }
  }

  /** An image was announced. If it is taken, this is the place that counts from now on. */
  Came came(String buildId, ImagePlace place, byte[] message) {
    Content first = places.get(buildId);
    String digest = Digest.of(message);
    if (claim(buildId).filter(claimed -> !claimed.equals(digest)).isPresent()) {
      return Came.REFUSED;
    }
    if (first == null && (placeBytes(buildId) > placeBytesMax || mayBeForgotten(buildId))) {
      forgotten++;
      return Came.UNSURE;
    }
    if (first != null && !first.digest().equals(digest)) {
      return Came.REFUSED;
    }
    take(buildId, new Content(place, digest), message);
    return Came.TAKEN;
  }

  private void take(String buildId, Content content, byte[] message) {
    if (placeBytes(buildId) > placeBytesMax) {
      return; // would push out all others, and be too much even so
    }
    if (places.put(buildId, content) == null) {
      placeBytes += placeBytes(buildId);
    }
    gone.remove(buildId);
    hold(buildId, message);
    forgetBeyond();
  }

  /** The first content of an image was found by a search; does nothing where it is known. */
  void found(String buildId, ImagePlace place, byte[] message) {
    if (!places.containsKey(buildId)) {
      take(buildId, new Content(place, Digest.of(message)), message);
    }
  }

  /**
   * An image was read again; does nothing where it came anew meanwhile.
   *
   * @return whether it has the content that counts
   */
  boolean readAgain(String buildId, ImagePlace place, byte[] message) {
    Content known = places.get(buildId);
    String digest = Digest.of(message);
    if (known != null && known.place().equals(place) && known.digest().equals(digest)) {
      take(buildId, known, message);
    }
    return known == null || known.digest().equals(digest);
  }

  /** An image does not stand there any more; does nothing where it came anew meanwhile. */
  void missing(String buildId, ImagePlace place) {
    if (place.equals(place(buildId)) && !held.containsKey(buildId)) {
      gone.add(buildId);
    }
  }

  /** Where the content that counts stands; null where that is not known. */
  private ImagePlace place(String buildId) {
    Content content = places.get(buildId);
    return content == null ? null : content.place();
  }

  /** What is known of an image; one that is in memory was used now. */
  Lookup find(String buildId) {
    ImagePlace place = place(buildId); // used now, in memory or not
    byte[] message = held.get(buildId);
    if (message != null) {
      return new Held(message);
    }
    if (place == null) {
      return forgotten == 0 ? Unknown.INSTANCE : Forgotten.INSTANCE;
    }
    return gone.contains(buildId) ? new Gone(place) : new InTopic(place);
  }

  /** Images whose place is known. */
  int known() {
    return places.size();
  }

  /** How often a place was forgotten. */
  long forgotten() {
    return forgotten;
  }

  /** Bytes of the messages in memory. */
  long bytes() {
    return bytes;
  }

  /** What the place of this image takes of the bound. */
  static long placeBytes(String buildId) {
    return PLACE_BYTES + 2L * buildId.length();
  }

  private void forgetBeyond() {
    Iterator<String> oldest = places.keySet().iterator();
    while (placeBytes > placeBytesMax) {
      String buildId = oldest.next();
      oldest.remove();
      placeBytes -= placeBytes(buildId);
      gone.remove(buildId);
      remember(buildId);
      byte[] message = held.remove(buildId);
      bytes -= message == null ? 0 : message.length;
      forgotten++;
    }
  }

  private void remember(String buildId) {
    for (int i = 0; i < FORGOTTEN_BITS; i++) {
      forgottenIds.set(bit(buildId, i));
    }
  }

  private boolean mayBeForgotten(String buildId) {
    for (int i = 0; i < FORGOTTEN_BITS; i++) {
      if (!forgottenIds.get(bit(buildId, i))) {
        return false;
      }
    }
    return true;
  }

  /** As many bits as the places have bytes. */
  private int bit(String buildId, int number) {
    long hash = (buildId.hashCode() + ((long) number << 32)) * 0x9e3779b97f4a7c15L;
    return (int) Long.remainderUnsigned(hash ^ (hash >>> 29), Math.min(placeBytesMax, 1L << 30));
  }

  private void hold(String buildId, byte[] message) {
    byte[] before = held.remove(buildId);
    bytes -= before == null ? 0 : before.length;
    if (message.length > bytesMax) {
      return; // would push out all others, and be too much even so
    }
    held.put(buildId, message);
    bytes += message.length;
    Iterator<byte[]> oldest = held.values().iterator();
    while (bytes > bytesMax) {
      bytes -= oldest.next().length;
      oldest.remove();
    }
  }
}
