package dev.retstack.simulation;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnknownFieldSet;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a Perfetto trace by the public numbers of its fields. It refuses what a reader could
 * misunderstand: tracks that were not declared or declared twice, ends without a beginning, names
 * that are not interned.
 */
final class StrictPerfetto {
  /** A track; those left in {@code open} are slices that have no end. */
  static final class Track {
    final String name;
    final String parent;
    final Deque<String> open = new ArrayDeque<>();
    final List<String> slices = new ArrayList<>();
    final List<String> instants = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();

    Track(String name, String parent) {
      this.name = name;
      this.parent = parent;
    }
  }

  private record Event(long time, int type, String name) {}

  /** By uuid, in the order in which they were told of. */
  final Map<Long, Track> tracks = new LinkedHashMap<>();

  /** Packets that say that something is missing ahead of them. */
  int dropped;

  private final Map<Long, Map<Long, String>> names = new HashMap<>();

  static StrictPerfetto read(byte[] trace) throws IOException {
    StrictPerfetto read = new StrictPerfetto();
    CodedInputStream in = CodedInputStream.newInstance(trace);
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      require(tag >>> 3 == 1, "a field of a trace", tag >>> 3);
      read.packet(UnknownFieldSet.parseFrom(in.readByteArray()));
    }
    read.play();
    return read;
  }

  private void packet(UnknownFieldSet packet) throws IOException {
    long sequence = number(packet, 10);
    require(sequence > 0, "a packet of sequence", sequence);
    if (packet.hasField(60)) {
      track(message(packet, 60));
      return;
    }
    if ((number(packet, 13) & 1) != 0) {
      names.put(sequence, new HashMap<>());
    }
    if (packet.hasField(12)) {
      UnknownFieldSet name = message(message(packet, 12), 2);
      String former = names.get(sequence).put(number(name, 1), text(name, 2));
      require(former == null, "a name told twice", former);
    }
    dropped += packet.hasField(42) ? 1 : 0;
    event(message(packet, 11), number(packet, 8), names.get(sequence));
  }

  private void track(UnknownFieldSet track) throws IOException {
    long uuid = number(track, 1);
    long parent = number(track, 5);
    require(parent == 0 || tracks.containsKey(parent), "a track below track", parent);
    String name = track.hasField(3) ? text(message(track, 3), 6) : text(track, 2);
    Track former = tracks.put(uuid, new Track(name, parent == 0 ? "" : tracks.get(parent).name));
    require(former == null, "track told twice", uuid);
  }

  private void event(UnknownFieldSet event, long time, Map<Long, String> interned) {
    Track track = tracks.get(number(event, 11));
    require(track != null, "an event on track", number(event, 11));
    String name = event.hasField(10) ? interned.get(number(event, 10)) : null;
    long type = number(event, 9);
    require(type >= 1 && type <= 3 && (name == null) == (type == 2), "type of", type, name);
    track.events.add(new Event(time, (int) type, name));
  }

  /** Plays all events of each track in the order of time, as Perfetto's own reader does. */
  private void play() {
    for (Track track : tracks.values()) {
      track.events.sort(Comparator.comparingLong(Event::time)); // stable
      for (Event event : track.events) {
        switch (event.type()) {
          case 1 -> track.open.push(event.name());
          case 2 -> {
            require(!track.open.isEmpty(), "on: an end too many", track.name, event);
            track.slices.add(track.open.pop());
          }
          default -> track.instants.add(event.name());
        }
      }
    }
  }

  private static void require(boolean holds, Object... what) {
    if (!holds) {
      throw new AssertionError(Arrays.toString(what));
    }
  }

  private static long number(UnknownFieldSet message, int field) {
    List<Long> values = message.getField(field).getVarintList();
    require(values.size() < 2, "field stands twice", field);
    return values.isEmpty() ? 0 : values.getFirst();
  }

  private static UnknownFieldSet message(UnknownFieldSet message, int field) throws IOException {
    return UnknownFieldSet.parseFrom(bytes(message, field));
  }

  private static String text(UnknownFieldSet message, int field) {
    return bytes(message, field).toStringUtf8();
  }

  private static ByteString bytes(UnknownFieldSet message, int field) {
    List<ByteString> values = message.getField(field).getLengthDelimitedList();
    require(values.size() == 1, "times that a field stands", field, values.size());
    return values.getFirst();
  }
}
