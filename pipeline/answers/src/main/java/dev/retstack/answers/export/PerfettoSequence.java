package dev.retstack.answers.export;

import com.google.protobuf.CodedOutputStream;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.schema.wire.Visible;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Writes the packets of one Perfetto packet sequence. Names are interned. About every MiB all names
 * are dropped and interned again, so that a reader who joins late or loses packets soon has them
 * all.
 */
final class PerfettoSequence {
  /** Bytes after which the interned names are begun anew. */
  static final int STATE_BYTES = 1 << 20;

  private final int id;
  private final OutputStream out;
  private final Map<String, Integer> names = new HashMap<>();
  private final Map<SourceLine, Integer> sources = new HashMap<>();
  private int bytesWithState = STATE_BYTES;

  /** A sequence of this id, which no other sequence of the trace has. */
  PerfettoSequence(int id, OutputStream out) {
    this.id = id;
    this.out = out;
  }

  /** Content of one message, field by field. */
  interface Fields {
    void writeTo(CodedOutputStream out) throws IOException;
  }

  /** Describes a track before its first event. */
  void track(Fields descriptor) throws IOException {
    packet(
        packet -> {
          packet.writeUInt32(PerfettoFields.PACKET_SEQUENCE_ID, id);
          message(packet, PerfettoFields.PACKET_TRACK_DESCRIPTOR, descriptor);
        });
  }

  /**
   * Writes an event.
   *
   * @param name its name; null for the end of a slice, which has the name of its beginning
   * @param source where the function of that name begins
   * @param more further fields of the TrackEvent
   * @param dropped whether records before this event were lost
   */
  void event(
      long time, int type, long track, String name, SourceLine source, Fields more, boolean dropped)
      throws IOException {
    boolean cleared = bytesWithState >= STATE_BYTES;
    if (cleared) {
      names.clear();
      sources.clear();
      bytesWithState = 0;
    }
    boolean newName = name != null && !names.containsKey(name);
    int iid = name == null ? 0 : names.computeIfAbsent(name, _ -> names.size() + 1);
    boolean newSource = source.isKnown() && !sources.containsKey(source);
    int sourceIid = source.isKnown() ? sources.computeIfAbsent(source, _ -> sources.size() + 1) : 0;
    bytesWithState +=
        packet(
            packet -> {
              packet.writeUInt64(PerfettoFields.PACKET_TIMESTAMP, time);
              packet.writeUInt32(PerfettoFields.PACKET_SEQUENCE_ID, id);
              packet.writeUInt32(
                  PerfettoFields.PACKET_SEQUENCE_FLAGS,
                  (cleared ? PerfettoFields.FLAG_STATE_CLEARED : 0)
                      | PerfettoFields.FLAG_NEEDS_STATE);
              if (dropped) {
                packet.writeBool(PerfettoFields.PACKET_PREVIOUS_DROPPED, true);
              }
              if (newName || newSource) {
                message(
                    packet,
                    PerfettoFields.PACKET_INTERNED_DATA,
                    data -> {
                      if (newName) {
                        intern(data, iid, name);
                      }
                      if (newSource) {
                        intern(data, sourceIid, source);
                      }
                    });
              }
              message(
                  packet,
                  PerfettoFields.PACKET_TRACK_EVENT,
                  event -> {
                    event.writeEnum(PerfettoFields.EVENT_TYPE, type);
                    event.writeUInt64(PerfettoFields.EVENT_TRACK_UUID, track);
                    if (name != null) {
                      event.writeUInt64(PerfettoFields.EVENT_NAME_IID_REF, iid);
                    }
                    if (sourceIid > 0) {
                      event.writeUInt64(PerfettoFields.EVENT_SOURCE_IID_REF, sourceIid);
                    }
                    more.writeTo(event);
                  });
            });
  }

  private static void intern(CodedOutputStream data, int iid, String name) throws IOException {
    message(
        data,
        PerfettoFields.INTERNED_EVENT_NAMES,
        entry -> {
          entry.writeUInt64(PerfettoFields.EVENT_NAME_IID, iid);
          entry.writeString(PerfettoFields.EVENT_NAME_NAME, Visible.line(name));
        });
  }

  private static void intern(CodedOutputStream data, int iid, SourceLine source)
      throws IOException {
    message(
        data,
        PerfettoFields.INTERNED_SOURCES,
        entry -> {
          entry.writeUInt64(PerfettoFields.SOURCE_IID, iid);
          entry.writeString(PerfettoFields.SOURCE_FILE, Visible.line(source.file()));
          entry.writeUInt32(PerfettoFields.SOURCE_LINE, source.line());
        });
  }

  private int packet(Fields fields) throws IOException {
    byte[] packet = bytes(fields);
    CodedOutputStream trace = CodedOutputStream.newInstance(out, 16);
    trace.writeByteArray(PerfettoFields.TRACE_PACKET, packet);
    trace.flush();
    return packet.length;
  }

  /** Writes a message inside a message. */
  static void message(CodedOutputStream out, int field, Fields fields) throws IOException {
    out.writeByteArray(field, bytes(fields));
  }

  private static byte[] bytes(Fields fields) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream coded = CodedOutputStream.newInstance(bytes, 64);
    try {
      fields.writeTo(coded);
      coded.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    return bytes.toByteArray();
  }
}
