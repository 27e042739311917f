package dev.retstack.schema.chunk;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.OtherName;
import dev.retstack.schema.SourceLine;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.ByteBuffer;

/** Makes chunks from batches and batches from chunks. Only this class checks everything. */
public final class Chunks {
  /** Records in a chunk at most: unpacked they take some 60 bytes each of every reader. */
  public static final int RECORDS_MAX = 1 << 17;

  /** Payload of a chunk at most, in bytes. */
  public static final int PAYLOAD_BYTES_MAX = 16 << 20;

  /** Depth of a record is below this. */
  public static final int DEPTH_MAX = 1 << 20;

  /** Images that the MAP records of a chunk name at most. */
  public static final int IMAGES_MAX = 1024;

  /** Characters of the name of a session, core or image at most. */
  public static final int NAME_MAX = 1024;

  /** Characters of the name of a symbol, and of what a core says at its end, at most. */
  public static final int TEXT_MAX = 1 << 18;

  /** Characters of the name of a source file, with its folders, at most. */
  public static final int FILE_MAX = 4096;

  /** {@code keyframeRecords} of a chunk that has no keyframe. */
  public static final int NO_KEYFRAME = -1;

  private Chunks() {}

  /**
   * Completes a chunk: packs the records and the batch's keyframe, if it has one, and sets codec,
   * payload, recordCount, the times and the checksum. Everything else has been set by the caller;
   * firstTime and lastTime only where the batch does not have them (it is empty, or the core's
   * clock stood later when it ended).
   *
   * @throws IllegalArgumentException for more records or a longer payload than a chunk may hold
   */
  public static Chunk seal(Chunk.Builder chunk, ChunkCodec codec, RecordBatch batch) {
    int count = batch.size();
    byte[] payload = codec.encode(batch);
    if (count > RECORDS_MAX || payload.length > PAYLOAD_BYTES_MAX) {
      throw new IllegalArgumentException(
          count
              + " records in "
              + payload.length
              + " bytes: a chunk holds at most "
              + RECORDS_MAX
              + " in "
              + PAYLOAD_BYTES_MAX
              + ", send smaller batches");
    }
    if (count > 0 && !chunk.hasFirstTime()) {
      chunk.setFirstTime(batch.time[0]);
    }
    if (count > 0 && !chunk.hasLastTime()) {
      chunk.setLastTime(batch.time[count - 1]);
    }
    if (batch.keyframe() != null) {
      RecordBatch open = batch.keyframe().written();
      chunk.setKeyframeRecords(open.size()).setKeyframe(ByteBuffer.wrap(codec.encode(open)));
    }
    return seal(
        chunk
            .setImages(batch.images())
            .setCodec(codec.id())
            .setPayload(ByteBuffer.wrap(payload))
            .setRecordCount(count)
            .setChecksum(0)
            .build());
  }

  /** Sets the checksum of a chunk that is complete otherwise; returns it. */
  public static Chunk seal(Chunk chunk) {
    chunk.setChecksum(ChunkChecksum.compute(chunk));
    return chunk;
  }

  /** {@link #decode(Chunk, RecordBatch)} into a new batch. */
  @CheckReturnValue
  public static RecordBatch decode(Chunk chunk) throws CorruptChunkException {
    return decode(chunk, new RecordBatch(0));
  }

  /**
   * Checks a chunk and unpacks its records and its keyframe.
   *
   * @param reuse a batch to fill; where it is too small a new one is made
   * @return {@code reuse} or the new one
   * @throws CorruptChunkException where {@link #check} refuses it, the codec is unknown, the
   *     payload is not what the codec makes of recordCount records, a record's time is before the
   *     one ahead of it or outside [firstTime, lastTime], a depth is outside 0 to {@link
   *     #DEPTH_MAX}, a LOST record counts fewer than 1, a MAP record names no image or no bytes, or
   *     the keyframe is none ({@link Keyframe#fault})
   */
  @CheckReturnValue
  public static RecordBatch decode(Chunk chunk, RecordBatch reuse) throws CorruptChunkException {
    ChunkChecksum.verify(chunk);
    return decodeUnverified(chunk, reuse);
  }

  /** All of {@link #decode(Chunk, RecordBatch)} but the checksum, to prove what that one is for. */
  @CheckReturnValue
  static RecordBatch decodeUnverified(Chunk chunk, RecordBatch reuse) throws CorruptChunkException {
    checkLimits(chunk);
    int count = chunk.getRecordCount();
    ChunkCodec codec = Codecs.byId(chunk.getCodec());
    RecordBatch batch = unpack(codec, chunk.getPayload(), count, reuse);
    batch.setImages(chunk.getImages());
    checkRecords(chunk, batch);
    batch.setKeyframe(chunk.getKeyframeRecords() == NO_KEYFRAME ? null : keyframe(codec, chunk));
    return batch;
  }

  private static RecordBatch unpack(
      ChunkCodec codec, ByteBuffer packed, int count, RecordBatch reuse)
      throws CorruptChunkException {
    byte[] bytes = new byte[packed.remaining()];
    packed.duplicate().get(bytes);
    RecordBatch batch = reuse.capacity() >= count ? reuse : new RecordBatch(count);
    codec.decode(bytes, count, batch);
    return batch;
  }

  private static Keyframe keyframe(ChunkCodec codec, Chunk chunk) throws CorruptChunkException {
    int count = chunk.getKeyframeRecords();
    Keyframe keyframe =
        Keyframe.read(unpack(codec, chunk.getKeyframe(), count, new RecordBatch(count)));
    String fault =
        keyframe.fault(
            chunk.getImages().size(),
            chunk.getFirstTime(),
            chunk.getTask(),
            chunk.getInterrupts(),
            DEPTH_MAX);
    if (!fault.isEmpty()) {
      throw refused(chunk, "keyframe: " + fault);
    }
    return keyframe;
  }

  /**
   * Checks everything but the inside of payload and keyframe.
   *
   * @throws CorruptChunkException for a wrong checksum, a recordCount outside 0 to {@link
   *     #RECORDS_MAX}, a payload beyond {@link #PAYLOAD_BYTES_MAX}, a negative sequence or counter,
   *     firstTime after lastTime, a name or text that is too long, or an end or a clock unit that
   *     this version does not know
   */
  public static void check(Chunk chunk) throws CorruptChunkException {
    ChunkChecksum.verify(chunk);
    checkLimits(chunk);
  }

  private static void checkLimits(Chunk chunk) throws CorruptChunkException {
    within(chunk, "characters in session", chunk.getSession().length(), NAME_MAX);
    within(chunk, "characters in core", chunk.getCore().length(), NAME_MAX);
    within(chunk, "characters in image", chunk.getImage().length(), NAME_MAX);
    within(chunk, "characters in endDetail", chunk.getEndDetail().length(), TEXT_MAX);
    within(chunk, "recordCount", chunk.getRecordCount(), RECORDS_MAX);
    within(chunk, "payload bytes", chunk.getPayload().remaining(), PAYLOAD_BYTES_MAX);
    boolean hasKeyframe = chunk.getKeyframeRecords() != NO_KEYFRAME;
    if (hasKeyframe) {
      within(chunk, "keyframeRecords", chunk.getKeyframeRecords(), Keyframe.RECORDS_MOST);
    }
    within(
        chunk,
        "keyframe bytes",
        chunk.getKeyframe().remaining(),
        hasKeyframe ? PAYLOAD_BYTES_MAX : 0);
    within(chunk, "images", chunk.getImages().size(), IMAGES_MAX);
    for (String image : chunk.getImages()) {
      within(chunk, "characters in an image", image.length(), NAME_MAX);
    }
    within(chunk, "sequence", chunk.getSequence(), Long.MAX_VALUE);
    within(chunk, "recordsBefore", chunk.getRecordsBefore(), Long.MAX_VALUE - RECORDS_MAX);
    within(chunk, "lostBefore", chunk.getLostBefore(), Long.MAX_VALUE);
    within(chunk, "overruns", chunk.getOverruns(), Long.MAX_VALUE);
    within(chunk, "unhijackable", chunk.getUnhijackable(), Long.MAX_VALUE);
    within(chunk, "abandoned", chunk.getAbandoned(), Long.MAX_VALUE);
    within(chunk, "interrupts", chunk.getInterrupts(), DEPTH_MAX);
    if (chunk.getFirstTime() > chunk.getLastTime()) {
      throw refused(
          chunk, "firstTime " + chunk.getFirstTime() + " is after lastTime " + chunk.getLastTime());
    }
    if (chunk.getEnd() == CoreEnd.UNKNOWN) {
      throw refused(chunk, "end is not known to this version");
    }
    if (chunk.getClockUnit() == ClockUnit.UNKNOWN) {
      throw refused(chunk, "clockUnit is not known to this version");
    }
  }

  private static void checkRecords(Chunk chunk, RecordBatch batch) throws CorruptChunkException {
    long before = chunk.getFirstTime();
    for (int i = 0, count = batch.size(); i < count; i++) {
      long time = batch.time[i];
      if (time < before) {
        throw refused(chunk, "record " + i + " has time " + time + ", before " + before);
      }
      before = time;
      int depth = batch.depth[i];
      if (depth < 0 || depth >= DEPTH_MAX) {
        throw refused(
            chunk, "record " + i + " has depth " + depth + ", outside 0 to " + (DEPTH_MAX - 1));
      }
      if (batch.kind[i] > RecordBatch.EXIT) { // few are
        checkOther(chunk, batch, i);
      }
    }
    if (before > chunk.getLastTime()) {
      throw refused(
          chunk, "last record has time " + before + ", after lastTime " + chunk.getLastTime());
    }
  }

  private static void checkOther(Chunk chunk, RecordBatch batch, int i)
      throws CorruptChunkException {
    if (batch.kind[i] == RecordBatch.LOST && batch.selfPc[i] <= 0) {
      throw refused(chunk, "record " + i + " says that " + batch.selfPc[i] + " records are lost");
    }
    if (RecordBatch.isOfMaps(batch.kind[i])) {
      String fault = Keyframe.mapFault(batch, i, chunk.getImages().size());
      if (!fault.isEmpty()) {
        throw refused(chunk, fault);
      }
    }
  }

  private static void within(Chunk chunk, String what, long value, long max)
      throws CorruptChunkException {
    if (value < 0 || value > max) {
      throw refused(chunk, what + " " + value + " is outside 0 to " + max);
    }
  }

  private static CorruptChunkException refused(Chunk chunk, String why) {
    return new CorruptChunkException(
        "chunk " + chunk.getSequence() + " of core " + cut(chunk.getCore()) + ": " + why);
  }

  private static String cut(String name) {
    return name.length() <= NAME_MAX ? name : name.substring(0, NAME_MAX) + "...";
  }

  /**
   * Checks an image, because a reader that keeps its facts writes them with each state.
   *
   * @throws CorruptChunkException where a name is too long, or its words have no size of a word
   */
  public static void check(Image image) throws CorruptChunkException {
    checkName("buildId", image.getBuildId(), NAME_MAX);
    checkName("name", image.getName(), NAME_MAX);
    checkName("isa", image.getIsa(), NAME_MAX);
    checkName("convention", image.getConvention(), NAME_MAX);
    checkName("systemCalls", image.getSystemCalls(), NAME_MAX);
    for (Symbol symbol : image.getSymbols()) {
      checkName("a symbol", symbol.getName(), TEXT_MAX);
    }
    for (Symbol symbol : image.getObjects()) {
      checkName("an object", symbol.getName(), TEXT_MAX);
    }
    checkFunctions(image);
    if (image.getWordBytes() < 1 || image.getWordBytes() > Long.BYTES) {
      throw new CorruptChunkException("image with words of " + image.getWordBytes() + " bytes");
    }
  }

  /**
   * Checks that the source lines and other names of an image are of its symbols and files.
   *
   * @throws CorruptChunkException where they are not, or there are too many, or one is too long
   */
  public static void checkFunctions(Image image) throws CorruptChunkException {
    checkLines(image);
    checkOtherNames(image);
  }

  private static void checkOtherNames(Image image) throws CorruptChunkException {
    int before = 0;
    int count = 0;
    for (OtherName other : image.getOtherNames()) {
      int symbol = other.getSymbol();
      if (symbol < 0 || symbol >= image.getSymbols().size()) {
        throw new CorruptChunkException(
            "image with another name of symbol %d of %d"
                .formatted(symbol, image.getSymbols().size()));
      }
      if (symbol < before) {
        throw new CorruptChunkException(
            "image with another name of symbol %d behind one of symbol %d"
                .formatted(symbol, before));
      }
      count = symbol == before ? count + 1 : 1;
      if (count > FunctionName.OTHERS_MAX) {
        throw new CorruptChunkException(
            "image with more than %d other names of symbol %d"
                .formatted(FunctionName.OTHERS_MAX, symbol));
      }
      checkName("another name", other.getName(), TEXT_MAX);
      before = symbol;
    }
  }

  private static void checkLines(Image image) throws CorruptChunkException {
    for (String file : image.getFiles()) {
      checkName("a source file", file, FILE_MAX);
    }
    int before = -1;
    for (SourceLine line : image.getLines()) {
      int symbol = line.getSymbol();
      boolean ascends = symbol > before && symbol < image.getSymbols().size();
      if (!ascends || line.getFile() < 0 || line.getFile() >= image.getFiles().size()) {
        throw new CorruptChunkException(
            "image with a source line of symbol %d of %d in file %d of %d"
                .formatted(
                    symbol, image.getSymbols().size(), line.getFile(), image.getFiles().size()));
      }
      if (line.getLine() < 1) {
        throw new CorruptChunkException("image with the source line %d".formatted(line.getLine()));
      }
      before = symbol;
    }
  }

  private static void checkName(String what, String name, int max) throws CorruptChunkException {
    if (name.length() > max) {
      throw new CorruptChunkException(
          "image with %d characters in %s: at most %d".formatted(name.length(), what, max));
    }
  }

  /**
   * Error Prone knows it by name: a caller that drops the result of the method does not compile.
   */
  @Target(ElementType.METHOD)
  @Retention(RetentionPolicy.CLASS)
  @interface CheckReturnValue {}
}
