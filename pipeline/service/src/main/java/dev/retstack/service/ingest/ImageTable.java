package dev.retstack.service.ingest;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Which images there are, where each stands in the topic, and the messages of those that were asked
 * for last, as many as a bound allows. A pure table: who reads again what went decides nothing.
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

  private final long bytesMax;
  private final Map<String, ImagePlace> places = new HashMap<>();
  private final Set<String> gone = new HashSet<>();

  /** By when they were used, longest ago first. */
  private final LinkedHashMap<String, byte[]> held = new LinkedHashMap<>(16, 0.75f, true);

  private long bytes;

  /**
   * Knows no image.
   *
   * @param bytesMax of messages held; one that is longer is never held
   */
  ImageTable(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** An image came, or came anew: this is the place that counts from now on. */
  void came(String buildId, ImagePlace place, byte[] message) {
    places.put(buildId, place);
    gone.remove(buildId);
    hold(buildId, message);
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
    byte[] message = held.get(buildId);
    if (message != null) {
      return new Held(message);
    }
    ImagePlace place = places.get(buildId);
    if (place == null) {
      return Unknown.INSTANCE;
    }
    return gone.contains(buildId) ? new Gone(place) : new InTopic(place);
  }

  /** Images that came so far. */
  int known() {
    return places.size();
  }

  /** Bytes of the messages in memory. */
  long bytes() {
    return bytes;
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
