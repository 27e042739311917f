package dev.retstack.simulation;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * Changes a field of a chunk on its way.
 *
 * @param field which
 * @param bits how: not 0
 */
record Damage(Field field, long bits) {
  /** The fields of a chunk; CUT takes bytes off the payload's end. */
  enum Field {
    SESSION,
    CORE,
    ISA,
    IMAGE,
    SEQUENCE,
    FIRST_TIME,
    LAST_TIME,
    CLOCK_UNIT,
    RECORD_COUNT,
    RECORDS_BEFORE,
    LOST_BEFORE,
    OVERRUNS,
    UNHIJACKABLE,
    ABANDONED,
    TASK,
    INTERRUPTS,
    END,
    END_DETAIL,
    CODEC,
    PAYLOAD,
    CUT,
    CHECKSUM
  }

  private static final Field[] FIELDS = Field.values();

  /** Any damage to any field. */
  static Damage any(SplittableRandom random) {
    return new Damage(FIELDS[random.nextInt(FIELDS.length)], 1 + random.nextInt(1 << 20));
  }

  /** The chunk as it arrives. */
  Chunk of(Chunk chunk) {
    Chunk c = Chunk.newBuilder(chunk).build();
    int some = (int) bits;
    switch (field) {
      case SESSION -> c.setSession(c.getSession() + some);
      case CORE -> c.setCore(c.getCore() + some);
      case ISA -> c.setIsa(c.getIsa() + some);
      case IMAGE -> c.setImage(c.getImage() + some);
      case SEQUENCE -> c.setSequence(c.getSequence() ^ bits);
      case FIRST_TIME -> c.setFirstTime(c.getFirstTime() ^ bits);
      case LAST_TIME -> c.setLastTime(c.getLastTime() ^ bits);
      case CLOCK_UNIT -> c.setClockUnit(ClockUnit.NANOSECONDS);
      case RECORD_COUNT -> c.setRecordCount(c.getRecordCount() ^ some);
      case RECORDS_BEFORE -> c.setRecordsBefore(c.getRecordsBefore() ^ bits);
      case LOST_BEFORE -> c.setLostBefore(c.getLostBefore() ^ bits);
      case OVERRUNS -> c.setOverruns(c.getOverruns() ^ bits);
      case UNHIJACKABLE -> c.setUnhijackable(c.getUnhijackable() ^ bits);
      case ABANDONED -> c.setAbandoned(c.getAbandoned() ^ bits);
      case TASK -> c.setTask(c.getTask() ^ bits);
      case INTERRUPTS -> c.setInterrupts(c.getInterrupts() ^ some);
      case END -> c.setEnd(c.getEnd() == CoreEnd.FAULTED ? CoreEnd.RUNNING : CoreEnd.FAULTED);
      case END_DETAIL -> c.setEndDetail(c.getEndDetail() + some);
      case CODEC -> c.setCodec(c.getCodec() + some);
      case PAYLOAD -> c.setPayload(changed(c.getPayload(), some));
      case CUT -> c.setPayload(cut(c.getPayload(), some));
      case CHECKSUM -> c.setChecksum(c.getChecksum() ^ bits);
    }
    return c;
  }

  private static ByteBuffer changed(ByteBuffer payload, int bit) {
    byte[] bytes = new byte[Math.max(1, payload.remaining())];
    payload.duplicate().get(bytes, 0, payload.remaining());
    bytes[bit / Byte.SIZE % bytes.length] ^= (byte) (1 << bit % Byte.SIZE);
    return ByteBuffer.wrap(bytes);
  }

  /** At least a byte less, or one more where there is none. */
  private static ByteBuffer cut(ByteBuffer payload, int some) {
    int size = payload.remaining();
    byte[] bytes = new byte[size == 0 ? 1 : some % size];
    payload.duplicate().get(bytes, 0, Math.min(size, bytes.length));
    return ByteBuffer.wrap(bytes);
  }
}
