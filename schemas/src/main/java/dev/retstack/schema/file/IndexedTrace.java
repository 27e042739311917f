package dev.retstack.schema.file;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.IndexedImage;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.file.TraceIndex.Core;
import dev.retstack.schema.file.TraceIndex.Range;
import dev.retstack.schema.file.TraceIndex.WrongIndexException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads single chunks of a recorded trace, found by its index. Safe for use by several threads, of
 * which one at a time reads.
 *
 * <ul>
 *   <li>The index is found from the end of the file, in a time that does not depend on the file.
 *   <li>A file that was cut off has none. It is read once, without unpacking records, to make one.
 *   <li>So is one with more images than an index lists, since it does not say what fills the file.
 *   <li>The chunks are believed, not the index. The name of each core is confirmed by its first
 *       chunk. What is read is compared with what the index said; at the first difference the index
 *       is made anew, and may then have other cores.
 *   <li>{@link #notice} describes both cases. Only {@link TraceFileReader} can prove that no other
 *       byte of the file was changed.
 * </ul>
 */
public final class IndexedTrace implements Closeable {
  private final Path file;
  private final TraceFileReader blocks;
  private final long first;
  private TraceIndex index;
  private boolean madeAnew;
  private boolean cut;
  private String notice = "";

  private IndexedTrace(Path file, TraceFileReader blocks) {
    this.file = file;
    this.blocks = blocks;
    first = blocks.position();
  }

  /**
   * Opens a trace.
   *
   * @throws CorruptTraceException where the file is not a trace that this version knows, or has no
   *     right index and was changed
   * @throws IOException also where the file cannot be read from any place, as a pipe
   */
  public static IndexedTrace open(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException(file + " has no places to go to, as a file has; copy it into one");
    }
    TraceFileReader blocks = TraceFileReader.open(file);
    try {
      IndexedTrace trace = new IndexedTrace(file, blocks);
      trace.findIndex();
      return trace;
    } catch (IOException | RuntimeException e) {
      blocks.close();
      throw e;
    }
  }

  /**
   * Opens a second reader of the file for another thread. It takes over what this one knows of the
   * index.
   */
  public IndexedTrace another() throws IOException {
    IndexedTrace other = new IndexedTrace(file, TraceFileReader.open(file));
    synchronized (blocks) {
      other.index = index;
      other.madeAnew = madeAnew;
      other.cut = cut;
      other.notice = notice;
    }
    return other;
  }

  /** The index that is in use. */
  public TraceIndex index() {
    synchronized (blocks) {
      return index;
    }
  }

  /** Whether chunks are found by the index that the file has. */
  public boolean isIndexed() {
    synchronized (blocks) {
      return !madeAnew;
    }
  }

  /** Whether this file, or one that it was made of, was cut off. */
  public boolean isCut() {
    synchronized (blocks) {
      return cut;
    }
  }

  /**
   * A sentence for the user: where the file was cut off, or what was wrong with its index; empty
   * where all was well so far.
   */
  public String notice() {
    synchronized (blocks) {
      return notice;
    }
  }

  /**
   * The chunks of a core that have times in [from, to], in the order of the file. Reads the ranges
   * around them, but unpacks no records. For a core that the index does not know it reads the file.
   *
   * @return a range of one chunk for each; empty where there are none
   * @throws CorruptTraceException where the index is wrong, and the file was changed
   */
  public List<Range> chunksOf(String session, String core, long from, long to) throws IOException {
    return believed(() -> find(new Core(session, core), from, to));
  }

  /**
   * The chunks of a core with which a reconstruction of [from, to] begins and continues, in the
   * order of the file: from the last one that has a keyframe and begins at or before {@code from},
   * to the last one that begins at or before {@code to}. Where there is no such keyframe, they
   * begin with the first chunk of the core.
   *
   * @return a range of one chunk for each; empty where the core has none that early
   * @throws CorruptTraceException as {@link #chunksOf}
   */
  public List<Range> chunksFromKeyframe(String session, String core, long from, long to)
      throws IOException {
    return believed(() -> findFromKeyframe(new Core(session, core), from, to, false));
  }

  /**
   * The chunks of {@link #chunksFromKeyframe} and the next one, which shows that the core
   * continues.
   *
   * @throws CorruptTraceException as {@link #chunksOf}
   */
  public List<Range> chunksAround(String session, String core, long from, long to)
      throws IOException {
    return believed(() -> findFromKeyframe(new Core(session, core), from, to, true));
  }

  /**
   * Reads one chunk.
   *
   * @param at as {@link #chunksOf} gave it
   * @throws CorruptTraceException where another one stands there: the file was changed since
   */
  public Chunk chunk(Range at) throws IOException {
    Chunk chunk;
    long end;
    synchronized (blocks) {
      chunk = blocks.entryAt(at.position()).getChunk();
      end = blocks.position();
    }
    if (chunk == null || !Range.of(at.position(), end, chunk).equals(at)) {
      throw changed(at.position());
    }
    return chunk;
  }

  /**
   * Reads the first image with that build id. One that the index does not know is looked for in the
   * whole file.
   *
   * @return null where there is none
   */
  public Image image(String buildId) throws IOException {
    return believed(
        () -> {
          Long position = index.positionOf(buildId);
          if (position == null && madeAnew) {
            return findImage(buildId);
          }
          Image image = position == null ? null : entryAt(position).getImage();
          if (image == null || !image.getBuildId().equals(buildId)) {
            throw new WrongIndexException();
          }
          return image;
        });
  }

  /**
   * The pyramid of the trace, empty where it has none. What it gives is read from this trace, as
   * long as it is open.
   *
   * @throws TracePyramid.WrongPyramidException where it is not of this trace, or was changed
   */
  public Optional<TracePyramid> pyramid() throws IOException, TracePyramid.WrongPyramidException {
    synchronized (blocks) {
      return madeAnew
          ? Optional.empty()
          : Optional.ofNullable(TracePyramid.of(file.toString(), blocks, first));
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (blocks) {
      blocks.close();
    }
  }

  private void findIndex() throws IOException {
    try {
      index = blocks.truncated() ? null : blocks.indexAtEnd(first);
      confirmNames();
    } catch (WrongIndexException e) {
      index = null; // as if there were none
    }
    cut = blocks.isCut();
    notice = blocks.notice();
    if (index == null || !index.isWhole()) {
      makeIndex();
    }
  }

  /**
   * Looks at each image and at the first chunk of each core: who is not there would be asked for in
   * vain, and what stands where an image should would not be asked for at all.
   */
  private void confirmNames() throws IOException, WrongIndexException {
    if (index == null) {
      return;
    }
    for (Core core : index.cores()) {
      Chunk chunk = entryAt(index.rangesOf(core).getFirst().position()).getChunk();
      if (chunk == null || !Core.of(chunk).equals(core)) {
        throw new WrongIndexException();
      }
    }
    for (IndexedImage image : index.images()) {
      try {
        if (!blocks.isImage(image.getPosition(), image.getBytes())) {
          throw new WrongIndexException();
        }
      } catch (CorruptTraceException e) {
        throw new WrongIndexException();
      }
    }
  }

  /** Makes the index of the chunks themselves; the reader of them says what was wrong. */
  private void makeIndex() throws IOException {
    try (TraceFileReader all = TraceFileReader.open(file)) {
      while (all.next() != null) {
        // each adds itself to the index
      }
      index = all.index();
      notice = all.notice();
      cut = all.isCut();
      madeAnew = true;
    }
  }

  private interface Question<T> {
    T ask() throws IOException, WrongIndexException;
  }

  /** Asks again with an index of the chunks themselves, where the file's own one is wrong. */
  private <T> T believed(Question<T> question) throws IOException {
    synchronized (blocks) {
      while (true) {
        try {
          return question.ask();
        } catch (WrongIndexException e) {
          if (madeAnew) {
            throw changed(first);
          }
          makeIndex();
        }
      }
    }
  }

  private CorruptTraceException changed(long position) {
    return new CorruptTraceException(
        file.toString(), position, "the file was changed while it was read; read it again");
  }

  private List<Range> rangesOf(Core core) throws WrongIndexException {
    List<Range> ranges = index.rangesOf(core);
    if (ranges.isEmpty() && !madeAnew) {
      throw new WrongIndexException();
    }
    return ranges;
  }

  /** Goes back to the keyframe first, then on, one range farther than it must. */
  private List<Range> findFromKeyframe(Core core, long from, long to, boolean next)
      throws IOException, WrongIndexException {
    List<Range> ranges = rangesOf(core);
    int last = ranges.size() - 1;
    while (last >= 0 && ranges.get(last).firstTime() > to) {
      last--;
    }
    int back = last;
    while (back > 0 && ranges.get(back).firstTime() > from) {
      back--;
    }
    List<Range> found = new ArrayList<>();
    boolean begun = false;
    for (int at = back; at >= 0 && !begun; at--) {
      List<Range> chunks = scan(ranges, at, core);
      int begin = chunks.size() - 1;
      while (begin >= 0
          && !(chunks.get(begin).keyframe() && chunks.get(begin).firstTime() <= from)) {
        begin--;
      }
      begun = begin >= 0;
      found.addAll(0, chunks.subList(Math.max(begin, 0), chunks.size()));
    }
    for (int at = back + 1; at <= last + 1 && at < ranges.size(); at++) {
      found.addAll(scan(ranges, at, core));
    }
    int behind = 0;
    while (behind < found.size() && found.get(behind).firstTime() <= to) {
      behind++;
    }
    Range one = next && behind < found.size() ? found.get(behind) : null;
    found.removeIf(chunk -> chunk.firstTime() > to && !chunk.equals(one));
    return found;
  }

  /**
   * Reads the ranges that may have such chunks, and their neighbours, where wrong times would show.
   */
  private List<Range> find(Core core, long from, long to) throws IOException, WrongIndexException {
    List<Range> ranges = rangesOf(core);
    int before = -1;
    boolean none = true;
    for (int i = 0; i < ranges.size(); i++) {
      none &= !ranges.get(i).meets(from, to);
      before = ranges.get(i).lastTime() < from ? i : before;
    }
    List<Range> found = new ArrayList<>();
    for (int i = 0; i < ranges.size(); i++) {
      boolean near = none && (i == before || i == before + 1);
      for (int next = Math.max(i - 1, 0); next <= i + 1 && next < ranges.size(); next++) {
        near |= ranges.get(next).meets(from, to);
      }
      if (near) {
        for (Range one : scan(ranges, i, core)) {
          if (one.meets(from, to)) {
            found.add(one);
          }
        }
      }
    }
    return found;
  }

  /**
   * Reads a range and checks that its chunks are what it says, and no others. Where the numbers of
   * chunks leave a gap to its neighbours, it reads all between them: the index may leave out some.
   *
   * @return its chunks of that core
   */
  private List<Range> scan(List<Range> ranges, int which, Core core)
      throws IOException, WrongIndexException {
    Range range = ranges.get(which);
    Range next = which + 1 < ranges.size() ? ranges.get(which + 1) : null;
    boolean gap = next != null && next.sequence() != range.sequence() + range.chunks();
    long stop = gap ? next.position() : range.position() + index.rangeBytes();
    long at = which == 0 && range.sequence() != 0 ? first : range.position();
    List<Range> found = new ArrayList<>();
    Range seen = null;
    boolean running = true;
    while (at < index.end()
        && (at < stop
            || seen == null
            || seen.chunks() < range.chunks()
            || (next == null && running))) {
      Chunk chunk = entryAt(at).getChunk();
      if (chunk != null && index.shareRanges(Core.of(chunk), core)) {
        Range one = Range.of(at, blocks.position(), chunk);
        seen = seen == null ? one : seen.and(one);
        running = chunk.getEnd() == CoreEnd.RUNNING;
        if (Core.of(chunk).equals(core)) {
          found.add(one);
        }
      }
      at = blocks.position();
    }
    if (!range.equals(seen)) {
      throw new WrongIndexException();
    }
    return found;
  }

  /** What stands where the index points. */
  private TraceEntry entryAt(long position) throws IOException, WrongIndexException {
    try {
      return blocks.entryAt(position);
    } catch (CorruptTraceException e) {
      if (madeAnew) {
        throw e;
      }
      throw new WrongIndexException();
    }
  }

  private Image findImage(String buildId) throws IOException {
    try (TraceFileReader all = TraceFileReader.open(file)) {
      for (TraceEntry entry = all.next(); entry != null; entry = all.next()) {
        if (entry.getImage() != null && entry.getImage().getBuildId().equals(buildId)) {
          return entry.getImage();
        }
      }
      return null;
    }
  }
}
