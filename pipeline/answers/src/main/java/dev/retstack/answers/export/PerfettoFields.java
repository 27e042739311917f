package dev.retstack.answers.export;

/**
 * Numbers of the written fields, as in the public Perfetto protos (protos/perfetto/trace:
 * trace_packet.proto, track_event/*.proto, interned_data.proto).
 */
final class PerfettoFields {
  private PerfettoFields() {}

  /** Trace. */
  static final int TRACE_PACKET = 1;

  /** TracePacket. */
  static final int PACKET_TIMESTAMP = 8;

  static final int PACKET_SEQUENCE_ID = 10;
  static final int PACKET_TRACK_EVENT = 11;
  static final int PACKET_INTERNED_DATA = 12;
  static final int PACKET_SEQUENCE_FLAGS = 13;
  static final int PACKET_PREVIOUS_DROPPED = 42;
  static final int PACKET_TRACK_DESCRIPTOR = 60;

  /** TracePacket.SequenceFlags. */
  static final int FLAG_STATE_CLEARED = 1;

  static final int FLAG_NEEDS_STATE = 2;

  /** TrackDescriptor. */
  static final int TRACK_UUID = 1;

  static final int TRACK_NAME = 2;
  static final int TRACK_PROCESS = 3;
  static final int TRACK_THREAD = 4;
  static final int TRACK_PARENT = 5;

  /** ProcessDescriptor. */
  static final int PROCESS_PID = 1;

  static final int PROCESS_NAME = 6;

  /** ThreadDescriptor. */
  static final int THREAD_PID = 1;

  static final int THREAD_TID = 2;
  static final int THREAD_NAME = 5;

  /** InternedData. */
  static final int INTERNED_EVENT_NAMES = 2;

  static final int INTERNED_SOURCES = 4;

  /** EventName. */
  static final int EVENT_NAME_IID = 1;

  static final int EVENT_NAME_NAME = 2;

  /** SourceLocation. */
  static final int SOURCE_IID = 1;

  static final int SOURCE_FILE = 2;
  static final int SOURCE_LINE = 4;

  /** TrackEvent. */
  static final int EVENT_DEBUG_ANNOTATIONS = 4;

  static final int EVENT_TYPE = 9;
  static final int EVENT_NAME_IID_REF = 10;
  static final int EVENT_TRACK_UUID = 11;
  static final int EVENT_SOURCE_IID_REF = 34;

  /** TrackEvent.Type. */
  static final int TYPE_SLICE_BEGIN = 1;

  static final int TYPE_SLICE_END = 2;
  static final int TYPE_INSTANT = 3;

  /** DebugAnnotation. */
  static final int ANNOTATION_STRING = 6;

  static final int ANNOTATION_NAME = 10;
}
