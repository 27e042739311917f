package dev.retstack.graph;

import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.symbol.SymbolTable.Symbol;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;

/**
 * Records written by hand, the way a test wants to read them. Functions are {@link #MAIN}, {@link
 * #A}, {@link #B}, {@link #C}; a frame at depth d has the slot {@code 0x8000 - 0x20 * d}.
 */
public final class Stream {
  public static final String IMAGE_ID = "feed";
  public static final long MAIN = 0x1000;
  public static final long A = 0x1104;
  public static final long B = 0x1200;
  public static final long C = 0x1300;

  /** First address of 256 return_to_handler slots of 16 bytes. */
  public static final long HANDLER = 0xf000;

  public static final ImageInfo IMAGE =
      new ImageInfo(
          IMAGE_ID,
          "prog.elf",
          "x86_64",
          new ImageTraits(true, true, HANDLER, HANDLER + 256 * 16),
          SymbolTable.of(
              List.of(
                  new Symbol("main", 0x1000, 0x100),
                  new Symbol("a", 0x1100, 0x100),
                  new Symbol("b", 0x1200, 0x100),
                  new Symbol("c", 0x1300, 0x100))),
          Long.BYTES,
          LongList.of(),
          "generic");

  public static final CoreKey CORE = new CoreKey("s", "core0");

  private final GraphState state;
  private RecordBatch batch = new RecordBatch(1024);
  private long sequence;
  private long before;
  private long time;

  public Stream() {
    this(new GraphState());
  }

  public Stream(GraphState state) {
    this(state, IMAGE);
  }

  /** Records of an image that tells where its call sites are. */
  public Stream(GraphState state, List<Long> sites) {
    this(
        state,
        new ImageInfo(
            IMAGE_ID,
            IMAGE.name(),
            IMAGE.isa(),
            IMAGE.traits(),
            IMAGE.symbols(),
            IMAGE.wordBytes(),
            new LongArrayList(sites),
            IMAGE.systemCalls()));
  }

  private Stream(GraphState state, ImageInfo image) {
    this.state = state;
    state.image(image);
  }

  /** Records of an image in which the exits of some functions are missed. */
  public static Stream missingExitsOf(long... selfPcs) {
    ImageTraits traits =
        new ImageTraits(true, true, HANDLER, HANDLER + 256 * 16, LongList.of(selfPcs));
    return new Stream(
        new GraphState(),
        new ImageInfo(IMAGE_ID, IMAGE.name(), IMAGE.isa(), traits, IMAGE.symbols()));
  }

  public GraphState state() {
    return state;
  }

  public static long slot(int depth) {
    return 0x8000 - 0x20L * depth;
  }

  public static long fp(int depth) {
    return slot(depth) + 8;
  }

  /** The address in the caller behind its call, the same for every call it makes. */
  public static long returnTo(long caller) {
    return caller + 0x1c;
  }

  public Stream enter(long at, int depth, long self, long from) {
    time = at;
    batch.add(RecordBatch.ENTRY, at, depth, self, from, slot(depth), fp(depth));
    return this;
  }

  /** An entry whose return address is the handler slot of the frame below. */
  public Stream tailEnter(long at, int depth, long self) {
    return enter(at, depth, self, HANDLER + 16L * (depth - 1));
  }

  public Stream exit(long at, int depth, long self, long from) {
    return exit(at, depth, self, from, slot(depth), fp(depth));
  }

  public Stream exit(long at, int depth, long self, long from, long retP, long fp) {
    time = at;
    batch.add(RecordBatch.EXIT, at, depth, self, from, retP, fp);
    return this;
  }

  public Stream lost(long at, long count) {
    time = at;
    batch.add(RecordBatch.LOST, at, 0, count, 0, 0, 0);
    return this;
  }

  public Stream function(long at, long self, long from) {
    return add(RecordBatch.FUNCTION, at, 0, self, from, 0, 0);
  }

  public Stream values(long at, int depth, long a, long b, long c, long d) {
    return add(RecordBatch.VALUES, at, depth, a, b, c, d);
  }

  public Stream systemCall(long at, int depth, long number) {
    return add(RecordBatch.SYS_ENTER, at, depth, number, MAIN + 0x40, 0, 0);
  }

  public Stream systemCallEnd(long at, int depth, long number, long result) {
    return add(RecordBatch.SYS_EXIT, at, depth, number, result, 0, 0);
  }

  public Stream mark(long at, long self, long what, long command) {
    return add(RecordBatch.MARK, at, 0, self, what, command, 0);
  }

  public Stream overrun(long at, int limit, long self, long from) {
    return add(RecordBatch.FUNCTION, at, limit, self, from, 0, 0);
  }

  public Stream smashed(long at, int depth, long self, long to, long expected) {
    return add(RecordBatch.SMASHED, at, depth, self, to, slot(depth), expected);
  }

  /** A task begins, and goes on. */
  public Stream started(long at, long task) {
    return add(RecordBatch.TASK, at, 0, task, TaskEvent.STARTED.code(), 0x7000, 0);
  }

  /** A task goes on, with so many frames. */
  public Stream switched(long at, long task, int depth) {
    return add(RecordBatch.TASK, at, depth, task, TaskEvent.SWITCHED.code(), 0x8000, 0);
  }

  /** The task at hand ends. */
  public Stream ended(long at, long task) {
    return add(RecordBatch.TASK, at, 0, task, TaskEvent.ENDED.code(), 0x7000, 0);
  }

  /** An interrupt begins on top of so many frames. */
  public Stream interrupt(long at, long number, int depth) {
    return add(RecordBatch.INTERRUPT_ENTER, at, depth, number, MAIN + 0x40, 0x8000, 0);
  }

  /** It ends, with no frame left. */
  public Stream interruptEnd(long at, long number) {
    return add(RecordBatch.INTERRUPT_EXIT, at, 0, number, MAIN + 0x40, 0, 0);
  }

  /** The images that mappings of the chunk that is written name. */
  public Stream images(List<String> buildIds) {
    batch.setImages(buildIds);
    return this;
  }

  /** Code of an image stands there from now on. */
  public Stream map(long at, int image, long start, long bytes, long link) {
    return add(RecordBatch.MAP, at, image, start, bytes, link, 5);
  }

  public Stream unmap(long at, long start, long bytes) {
    return add(RecordBatch.UNMAP, at, 0, start, bytes, 0, 0);
  }

  /** The program calls a task so from now on. */
  public Stream named(long at, long task, TaskName name) {
    return add(RecordBatch.TASK_NAME, at, 0, task, name.first(), name.second(), 0);
  }

  private Stream add(byte kind, long at, int depth, long a, long b, long c, long d) {
    time = at;
    batch.add(kind, at, depth, a, b, c, d);
    return this;
  }

  /** What is open in the core's first task: the stack of {@link Stream}s. */
  public static Keyframe.Builder open(long at, int depth, long self, long from) {
    Keyframe.Builder to = new Keyframe.Builder();
    to.last();
    to.task(0, depth + 1, depth + 1);
    return frame(to, at, depth, self, from);
  }

  /** One frame more of the stack at hand. */
  public static Keyframe.Builder frame(
      Keyframe.Builder to, long at, int depth, long self, long from) {
    to.frame(depth, at, self, from, slot(depth), fp(depth));
    return to;
  }

  /** The chunk that is written begins with these calls open. */
  public Stream opens(Keyframe.Builder keyframe) {
    batch.setKeyframe(keyframe.build());
    return this;
  }

  /** Sends what was written as one chunk. */
  public Stream send() {
    send(meta());
    return this;
  }

  /** The chunk that {@link #send()} would send. */
  public ChunkMeta meta() {
    long first = batch.size() == 0 ? time : batch.time[0];
    return ChunkMeta.running(sequence, before, first, time, ClockUnit.INSTRUCTIONS);
  }

  public ApplyResult send(ChunkMeta meta) {
    ApplyResult result = state.apply(meta, CORE, IMAGE_ID, batch);
    skip();
    return result;
  }

  /** Writes the chunk, but it never comes. */
  public Stream skip() {
    sequence++;
    before += batch.size();
    batch = new RecordBatch(1024);
    return this;
  }

  /** Sends what was written as the last chunk. */
  public Stream end(long clock) {
    send(meta().ending(CoreEnd.HALTED, "exit code 0", clock));
    return this;
  }
}
