package dev.retstack.answers.support;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the records that a core would, call by call: what a probe does, without an emulator. Calls
 * take the time that {@link #tick} gives them.
 */
public final class CoreScript {
  private static final long CODE = 0x401000;
  private static final long FUNCTION_BYTES = 0x40;
  private static final long HANDLER = 0xffff0000L;
  private static final int SLOTS = 256;

  /** Records that a chunk has room for at first: there may be many cores that write few. */
  private static final int FIRST = 64;

  private static final long STACK = 0x7fff0000L;

  private record Frame(int function, long fromPc, long retP, long fp, long time) {}

  private final Image image;
  private final String session;
  private final String core;
  private final List<Frame> stack = new ArrayList<>();
  private final List<Chunk> chunks = new ArrayList<>();
  private RecordBatch batch = new RecordBatch(FIRST);
  private List<String> images = List.of();
  private boolean keyframes;
  private int shown;
  private long time;
  private long sequence;
  private long records;
  private long lostBefore;
  private long overruns;
  private long unhijackable;

  /** A core that runs this image and has done nothing yet. */
  public CoreScript(Image image, String session, String core) {
    this.image = image;
    this.session = session;
    this.core = core;
  }

  /** From now on each chunk tells which calls are open where it begins, as a probe does. */
  public CoreScript withKeyframes() {
    keyframes = true;
    batch.setKeyframe(keyframe());
    return this;
  }

  private Keyframe keyframe() {
    RecordBatch stacks = new RecordBatch(stack.size() + 1);
    stacks.add(RecordBatch.TASK, 0, shown, 0, TaskEvent.SWITCHED.code(), stack.size(), 0);
    for (int depth = 0; depth < stack.size(); depth++) {
      Frame frame = stack.get(depth);
      stacks.add(
          RecordBatch.ENTRY,
          frame.time(),
          depth,
          address(frame.function()),
          frame.fromPc(),
          frame.retP(),
          frame.fp());
    }
    return Keyframe.of(stacks);
  }

  /** An image with functions of these names, {@value #FUNCTION_BYTES} bytes each. */
  public static Image image(String buildId, String... functions) {
    List<Symbol> symbols = new ArrayList<>();
    for (int i = 0; i < functions.length; i++) {
      symbols.add(new Symbol(functions[i], CODE + i * FUNCTION_BYTES, FUNCTION_BYTES));
    }
    return Image.newBuilder()
        .setBuildId(buildId)
        .setName(buildId + ".elf")
        .setIsa("x86_64")
        .setConvention("mcount")
        .setWordBytes(8)
        .setBigEndian(false)
        .setFpCheck(true)
        .setRetpCheck(true)
        .setReturnToHandlerStart(HANDLER)
        .setReturnToHandlerEnd(HANDLER + 16L * SLOTS)
        .setSymbols(symbols)
        .build();
  }

  /** Lets this many instructions pass. */
  public CoreScript tick(long instructions) {
    time += instructions;
    return this;
  }

  /** Calls a function of the image. */
  public CoreScript enter(String function) {
    int depth = stack.size();
    long from = depth == 0 ? 0x400ff0 : address(stack.getLast().function()) + 0x20;
    return enter(depth, function, from, STACK - 16L * depth);
  }

  /** The function that is open jumps to another one, which will return for it. */
  public CoreScript tailCall(String function) {
    int depth = stack.size();
    return enter(depth, function, handler(depth - 1), stack.getLast().retP());
  }

  /** From now on a function is one of another image, which has it at that address. */
  public CoreScript map(String buildId, String function, long link) {
    images = List.of(buildId);
    add(RecordBatch.MAP, 0, address(number(function)), FUNCTION_BYTES, link, 5);
    return this;
  }

  /** Returns from the function that is open, and from those that were tail-called for it. */
  public CoreScript exit() {
    return exit(0);
  }

  /** As {@link #exit()}, with a frame pointer changed by {@code damage}. */
  public CoreScript exit(long damage) {
    Frame frame;
    long damaged = damage;
    do {
      frame = stack.removeLast();
      add(
          RecordBatch.EXIT,
          stack.size(),
          address(frame.function()),
          frame.fromPc(),
          frame.retP(),
          frame.fp() + damaged);
      damaged = 0;
    } while (frame.fromPc() >= HANDLER);
    return this;
  }

  /** longjmp: this many open calls are gone without a word. */
  public CoreScript unwind(int calls) {
    for (int i = 0; i < calls; i++) {
      stack.removeLast();
    }
    return this;
  }

  /** Records are dropped: the next chunk says so. */
  public CoreScript lose(long count) {
    chunk();
    lostBefore += count;
    return this;
  }

  /** Calls that make no records: without room on ret_stack, without a return address. */
  public CoreScript untraced(long withoutRoom, long withoutAddress) {
    overruns += withoutRoom;
    unhijackable += withoutAddress;
    return this;
  }

  /** Sends what has gathered as one chunk. */
  public CoreScript chunk() {
    return chunk(CoreEnd.RUNNING, "");
  }

  /** Sends the last chunk. */
  public CoreScript end() {
    return chunk(CoreEnd.HALTED, "exit code 0");
  }

  /** The chunk that was sent last, which is not kept any more. */
  public Chunk take() {
    return chunks.removeLast();
  }

  /** How far it came. */
  public long time() {
    return time;
  }

  /** Calls that are open. */
  public int depth() {
    return stack.size();
  }

  /** Records since the last chunk. */
  public int pending() {
    return batch.size();
  }

  public Image image() {
    return image;
  }

  public String core() {
    return core;
  }

  public String session() {
    return session;
  }

  /** The chunks sent so far. */
  public List<Chunk> chunks() {
    return List.copyOf(chunks);
  }

  private CoreScript enter(int depth, String function, long from, long retP) {
    int number = number(function);
    Frame frame = new Frame(number, from, retP, retP + 0x100, time);
    stack.add(frame);
    add(RecordBatch.ENTRY, depth, address(number), from, retP, frame.fp());
    return this;
  }

  private CoreScript chunk(CoreEnd end, String detail) {
    Chunk.Builder chunk =
        Chunk.newBuilder()
            .setSession(session)
            .setCore(core)
            .setIsa(image.getIsa())
            .setImage(image.getBuildId())
            .setSequence(sequence++)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setRecordsBefore(records)
            .setLostBefore(lostBefore)
            .setOverruns(overruns)
            .setUnhijackable(unhijackable)
            .setEnd(end)
            .setEndDetail(detail)
            .setLastTime(time);
    if (batch.size() == 0) {
      chunk.setFirstTime(time);
    }
    batch.setImages(images);
    chunks.add(Chunks.seal(chunk, codec(chunk.getSequence()), batch));
    records += batch.size();
    lostBefore = 0;
    overruns = 0;
    unhijackable = 0;
    batch = new RecordBatch(FIRST);
    batch.setKeyframe(keyframes ? keyframe() : null);
    return this;
  }

  /** Every codec in turn, so that what reads the chunks meets them all. */
  private static ChunkCodec codec(long sequence) {
    List<String> ids = List.copyOf(Codecs.ids());
    try {
      return Codecs.byId(ids.get((int) (sequence % ids.size())));
    } catch (CorruptChunkException e) {
      throw new AssertionError("codecs " + ids + " are all known", e);
    }
  }

  private void add(byte kind, int depth, long self, long from, long retP, long fp) {
    if (batch.size() == batch.capacity()) {
      RecordBatch larger = new RecordBatch(2 * batch.capacity());
      larger.addAll(batch, 0, batch.size());
      larger.setKeyframe(batch.keyframe());
      batch = larger;
    }
    batch.add(kind, time, depth, self, from, retP, fp);
    if (kind == RecordBatch.ENTRY || kind == RecordBatch.EXIT) {
      shown = kind == RecordBatch.ENTRY ? depth + 1 : depth;
    }
  }

  private int number(String function) {
    int number = 0;
    while (!image.getSymbols().get(number).getName().equals(function)) {
      number++;
    }
    return number;
  }

  private static long address(int function) {
    return CODE + function * FUNCTION_BYTES;
  }

  private static long handler(int depth) {
    return HANDLER + 16L * (depth % SLOTS);
  }
}
