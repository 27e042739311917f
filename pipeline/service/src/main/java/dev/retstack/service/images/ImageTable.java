package dev.retstack.service.images;

import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Set;

/**
 * Places of images in the topic, and the messages of those that were asked for last: as many of
 * each as bounds allow. A pure table; it does not decide who reads an image again.
 */
final class ImageTable {
  /** What is known of an image. */
  sealed interface Lookup {}

  /** It is in memory. */
  @SuppressWarnings("ArrayRecordComponent") // looked at once, never compared nor a key
  record Held(byte[] message) implements Lookup {}

  /** It went from memory, and stands there. */
  record InTopic(ImagePlace place) implements Lookup {}

  /** It went from memory, and is no longer where it stood last. */
  record Gone(ImagePlace place) implements Lookup {}

  /** It never came. */
  enum Unknown implements Lookup {
    INSTANCE
  }

  /** It never came, or where it stands was forgotten: only the whole topic tells. */
  enum Forgotten implements Lookup {
    INSTANCE
  }

  /** Bytes that a place takes beside the characters of its build-id, in both maps, about. */
  static final int PLACE_BYTES = 200;

  private final long bytesMax;
  private final long placeBytesMax;

  /** By when they were used, longest ago first. */
  private final LinkedHashMap<String, ImagePlace> places = new LinkedHashMap<>(16, 0.75f, true);

  private final Set<String> gone = new HashSet<>();

  /** By when they were used, longest ago first. */
  private final LinkedHashMap<String, byte[]> held = new LinkedHashMap<>(16, 0.75f, true);

  private long bytes;
  private long placeBytes;
  private long forgotten;

  /**
   * Knows no image.
   *
   * @param bytesMax of messages held; one that is longer is never held
   * @param placeBytesMax of places, by {@link #placeBytes(String)}; whoever fills the topic with
   *     images that nobody uses costs no more than this
   */
  ImageTable(long bytesMax, long placeBytesMax) {
    this.bytesMax = bytesMax;
    this.placeBytesMax = placeBytesMax;
  }

  /** An image came, or came anew: this is the place that counts from now on. */
  void came(String buildId, ImagePlace place, byte[] message) {
    if (placeBytes(buildId) > placeBytesMax) {
      forgotten++; // would push out all others, and be too much even so
      return;
    }
    if (places.put(buildId, place) == null) {
      placeBytes += placeBytes(buildId);
    }
    gone.remove(buildId);
    hold(buildId, message);
    forgetBeyond();
  }

  /** An image was found by a search of the topic; does nothing where it came anew meanwhile. */
  void found(String buildId, ImagePlace place, byte[] message) {
    if (!places.containsKey(buildId)) {
      came(buildId, place, message);
    }
  }

  /** An image was read again; does nothing where it came anew meanwhile. */
  void readAgain(String buildId, ImagePlace place, byte[] message) {
    if (place.equals(places.get(buildId))) {
      came(buildId, place, message);
    }
  }

  /** An image does not stand there any more; does nothing where it came anew meanwhile. */
  void missing(String buildId, ImagePlace place) {
    if (place.equals(places.get(buildId)) && !held.containsKey(buildId)) {
      gone.add(buildId);
    }
  }

  /** What is known of an image; one that is in memory was used now. */
  Lookup find(String buildId) {
    ImagePlace place = places.get(buildId); // used now, in memory or not
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
      byte[] message = held.remove(buildId);
      bytes -= message == null ? 0 : message.length;
      forgotten++;
    }
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
