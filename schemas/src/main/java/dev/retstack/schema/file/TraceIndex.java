package dev.retstack.schema.file;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.IndexBlock;
import dev.retstack.schema.IndexedCore;
import dev.retstack.schema.IndexedImage;
import dev.retstack.schema.IndexedRange;
import dev.retstack.schema.chunk.Chunks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Where the chunks of each core stand in a recorded trace. Writer and reader make it of the same
 * entries in the same way, so that a reader can recognise a wrong index.
 *
 * <p>Its size is bounded. Chunks of a core that begin within {@code rangeBytes} of each other are
 * one {@link Range}. Where there are more than {@link #RANGES_MAX} ranges, {@code rangeBytes}
 * doubles, and ranges that are then one are joined, until half as many are left. Cores beyond
 * {@link #CORES_MAX}, or whose names do not fit in {@link #NAME_CHARACTERS_MAX}, have their ranges
 * together.
 */
public final class TraceIndex {
  /** {@code rangeBytes} at first: one core's smallest chunks share ranges, and little is read. */
  static final long RANGE_BYTES_MIN = 1 << 12;

  static final int RANGES_MAX = 1 << 16;

  /** Cores with separate ranges at most: all ranges but half of the most can be joined. */
  static final int CORES_MAX = 1 << 14;

  static final int IMAGES_MAX = 1 << 14;

  /** Characters in the names of all sessions, cores and images at most. */
  static final int NAME_CHARACTERS_MAX = 1 << 21;

  private final int rangesMax;
  private final int coresMax;
  private final List<IndexedImage> images = new ArrayList<>();
  private final Map<String, Long> positions = new HashMap<>();
  private final Map<Core, List<Range>> cores = new LinkedHashMap<>();
  private final List<Range> others = new ArrayList<>();
  private long otherImages;
  private long rangeBytes = RANGE_BYTES_MIN;
  private int ranges;
  private int nameCharacters;
  private long end;

  /** A core of a session. */
  public record Core(String session, String core) {
    static Core of(Chunk chunk) {
      return new Core(chunk.getSession(), chunk.getCore());
    }
  }

  /**
   * Some chunks of a core that begin near each other, or one chunk.
   *
   * @param position byte of the file where the block of the first chunk begins
   * @param chunks how many
   * @param bytes of their blocks
   * @param sequence number of the first chunk
   * @param recordsBefore records of the core before the first chunk
   * @param records in all of them
   * @param firstTime the earliest, in the chunks' clock unit
   * @param lastTime the latest
   * @param keyframe whether the first chunk has a keyframe
   */
  public record Range(
      long position,
      long chunks,
      long bytes,
      long sequence,
      long recordsBefore,
      long records,
      long firstTime,
      long lastTime,
      boolean keyframe) {
    private static final Range NONE = new Range(0, 0, 0, 0, 0, 0, 0, 0, false);

    static Range of(long position, long blockEnd, Chunk chunk) {
      return new Range(
          position,
          1,
          blockEnd - position,
          chunk.getSequence(),
          chunk.getRecordsBefore(),
          chunk.getRecordCount(),
          chunk.getFirstTime(),
          chunk.getLastTime(),
          chunk.getKeyframeRecords() != Chunks.NO_KEYFRAME);
    }

    /** Whether the time of any chunk may be in [from, to]. */
    boolean meets(long from, long to) {
      return firstTime <= to && lastTime >= from;
    }

    /** This one and one behind it. */
    Range and(Range next) {
      return new Range(
          position,
          chunks + next.chunks,
          bytes + next.bytes,
          sequence,
          recordsBefore,
          records + next.records,
          Math.min(firstTime, next.firstTime),
          Math.max(lastTime, next.lastTime),
          keyframe);
    }
  }

  TraceIndex() {
    this(RANGES_MAX, CORES_MAX);
  }

  TraceIndex(int rangesMax, int coresMax) {
    this.rangesMax = rangesMax;
    this.coresMax = coresMax;
  }

  /** The cores that have separate ranges; all cores, unless {@link #hasOthers}. */
  public Set<Core> cores() {
    return Collections.unmodifiableSet(cores.keySet());
  }

  /** Whether there are more cores than {@link #cores} names. */
  public boolean hasOthers() {
    return !others.isEmpty();
  }

  /**
   * Ranges of a core in the order of the file; those of an unnamed core have others' chunks too.
   */
  public List<Range> rangesOf(Core core) {
    return Collections.unmodifiableList(cores.getOrDefault(core, others));
  }

  /** Whether it lists all images; else it does not say what fills the file. */
  boolean isWhole() {
    return otherImages == 0;
  }

  /** Whether the chunks of both are in the same ranges. */
  boolean shareRanges(Core one, Core other) {
    return one.equals(other) || (!cores.containsKey(one) && !cores.containsKey(other));
  }

  /** The images that it lists. */
  List<IndexedImage> images() {
    return images;
  }

  /** Where the first image of that id stands; null where that is not known. */
  Long positionOf(String image) {
    return positions.get(image);
  }

  /** Bytes behind a range's position in which no chunk of its core belongs to another range. */
  long rangeBytes() {
    return rangeBytes;
  }

  /** Where the last block ends that the index knows of. */
  long end() {
    return end;
  }

  /**
   * Adds the next entry of the file, whose block takes the bytes from {@code position} to there.
   */
  void add(Image image, long position, long blockEnd) {
    end = blockEnd;
    String id = image.getBuildId();
    if (images.size() < IMAGES_MAX && hasRoomFor(id.length())) {
      images.add(new IndexedImage(id, position, blockEnd - position));
      positions.putIfAbsent(id, position);
    } else {
      otherImages++;
    }
  }

  /** As {@link #add(Image, long, long)}. */
  void add(Chunk chunk, long position, long blockEnd) {
    end = blockEnd;
    List<Range> of = rangesFor(Core.of(chunk));
    if (append(of, Range.of(position, blockEnd, chunk)) && ++ranges > rangesMax) {
      thinOut();
    }
  }

  private List<Range> rangesFor(Core core) {
    List<Range> known = cores.get(core);
    if (known == null
        && cores.size() < coresMax
        && hasRoomFor(core.session().length() + core.core().length())) {
      known = new ArrayList<>(1);
      cores.put(core, known);
    }
    return known == null ? others : known;
  }

  private boolean hasRoomFor(int characters) {
    if (characters > NAME_CHARACTERS_MAX - nameCharacters) {
      return false;
    }
    nameCharacters += characters;
    return true;
  }

  /** Appends a range. Returns whether it stayed separate from the last one. */
  private boolean append(List<Range> to, Range next) {
    if (!to.isEmpty() && next.position() - to.getLast().position() < rangeBytes) {
      to.set(to.size() - 1, to.getLast().and(next));
      return false;
    }
    to.add(next);
    return true;
  }

  private void thinOut() {
    while (ranges > rangesMax / 2) {
      rangeBytes *= 2;
      cores.replaceAll((core, before) -> joined(before));
      List<Range> fewer = joined(others);
      others.clear();
      others.addAll(fewer);
    }
  }

  private List<Range> joined(List<Range> before) {
    List<Range> joined = new ArrayList<>();
    for (Range range : before) {
      append(joined, range);
    }
    ranges -= before.size() - joined.size();
    return joined;
  }

  /** What is written into the file. */
  IndexBlock toBlock() {
    List<IndexedCore> coreList = new ArrayList<>(cores.size());
    cores.forEach(
        (core, of) -> coreList.add(new IndexedCore(core.session(), core.core(), pack(of))));
    return new IndexBlock(rangeBytes, List.copyOf(images), otherImages, coreList, pack(others));
  }

  /** How a file's index differs from this one of its entries; empty where it does not. */
  String difference(IndexBlock block) {
    IndexBlock own = toBlock();
    if (own.equals(block)) {
      return "";
    }
    int listed = block.getOthers().size();
    for (IndexedCore core : block.getCores()) {
      List<Range> expected = cores.get(new Core(core.getSession(), core.getCore()));
      List<Range> received = unpack(core.getRanges());
      listed += received.size();
      for (int i = 0; expected != null && i < Math.min(expected.size(), received.size()); i++) {
        if (!expected.get(i).equals(received.get(i))) {
          return "expected %s, received %s".formatted(expected.get(i), received.get(i));
        }
      }
    }
    return "expected %d ranges of %d cores, %d images and %d other images, received %d, %d, %d and %d"
        .formatted(
            ranges,
            cores.size(),
            images.size(),
            otherImages,
            listed,
            block.getCores().size(),
            block.getImages().size(),
            block.getOtherImages());
  }

  // differences wrap around, as times may be anywhere in 64 bits
  private static List<IndexedRange> pack(List<Range> of) {
    List<IndexedRange> packed = new ArrayList<>(of.size());
    Range before = Range.NONE;
    for (Range range : of) {
      packed.add(
          new IndexedRange(
              range.position - before.position,
              range.chunks,
              range.bytes,
              range.sequence - before.sequence - before.chunks,
              range.recordsBefore - before.recordsBefore - before.records,
              range.records,
              range.firstTime - before.lastTime,
              range.lastTime - range.firstTime,
              range.keyframe));
      before = range;
    }
    return packed;
  }

  private static List<Range> unpack(List<IndexedRange> packed) {
    List<Range> of = new ArrayList<>(packed.size());
    Range before = Range.NONE;
    for (IndexedRange range : packed) {
      long firstTime = before.lastTime + range.getFirstTime();
      before =
          new Range(
              before.position + range.getPosition(),
              range.getChunks(),
              range.getBytes(),
              before.sequence + before.chunks + range.getSequence(),
              before.recordsBefore + before.records + range.getRecordsBefore(),
              range.getRecords(),
              firstTime,
              firstTime + range.getLastTime(),
              range.getKeyframe());
      of.add(before);
    }
    return of;
  }

  /**
   * The index that a file holds.
   *
   * @param first where the file's first block begins
   * @param end where the index's block begins
   * @param entries images and chunks in the file
   * @throws WrongIndexException where no entries of such a file would give it
   */
  static TraceIndex of(IndexBlock block, long first, long end, long entries)
      throws WrongIndexException {
    TraceIndex index = new TraceIndex();
    index.end = end;
    index.rangeBytes = block.getRangeBytes();
    index.otherImages = block.getOtherImages();
    boolean possible = true;
    for (IndexedImage image : block.getImages()) {
      possible &= index.hasRoomFor(image.getImage().length());
      index.images.add(image);
      index.positions.putIfAbsent(image.getImage(), image.getPosition());
    }
    for (IndexedCore core : block.getCores()) {
      List<Range> of = unpack(core.getRanges());
      index.ranges += of.size();
      possible &= index.hasRoomFor(core.getSession().length() + core.getCore().length());
      possible &= index.cores.put(new Core(core.getSession(), core.getCore()), of) == null;
      possible &= !of.isEmpty();
    }
    index.others.addAll(unpack(block.getOthers()));
    index.ranges += index.others.size();
    if (!possible
        || !index.isBounded()
        || !index.covers(entries)
        || (index.isWhole() && !index.fills(first))) {
      throw new WrongIndexException();
    }
    return index;
  }

  private boolean isBounded() {
    return ranges <= rangesMax
        && cores.size() <= coresMax
        && images.size() <= IMAGES_MAX
        && rangeBytes >= RANGE_BYTES_MIN
        && Long.bitCount(rangeBytes) == 1;
  }

  /** Whether the index covers exactly {@code entries} entries, and each range is possible. */
  private boolean covers(long entries) {
    long left = entries - images.size() - otherImages;
    if (otherImages < 0 || left < 0) {
      return false;
    }
    for (List<Range> of : lists()) {
      for (Range range : of) {
        if (range.chunks < 1
            || range.chunks > left
            || range.sequence < 0
            || range.recordsBefore < 0
            || range.records < 0
            || range.records / range.chunks > Chunks.RECORDS_MAX
            || range.firstTime > range.lastTime) {
          return false;
        }
        left -= range.chunks;
      }
    }
    return left == 0;
  }

  /**
   * Whether images and ranges fill the file: they are far enough apart, and up to each begin those
   * before it have as many bytes as there are, and all together no more. So what is left out is a
   * gap, unless a range near it has bytes that are not its own; who reads that one sees it.
   */
  private boolean fills(long first) {
    List<long[]> blocks = new ArrayList<>();
    for (IndexedImage image : images) {
      blocks.add(new long[] {image.getPosition(), image.getBytes()});
    }
    for (List<Range> of : lists()) {
      for (int i = 0; i < of.size(); i++) {
        if (i > 0 && of.get(i).position - of.get(i - 1).position < rangeBytes) {
          return false;
        }
        blocks.add(new long[] {of.get(i).position, of.get(i).bytes});
      }
    }
    blocks.sort(Comparator.comparingLong(block -> block[0]));
    long filled = first;
    long before = first - 1;
    for (long[] block : blocks) {
      if (block[0] <= before || block[0] > filled || block[1] < 1 || block[1] > end - filled) {
        return false;
      }
      before = block[0];
      filled += block[1];
    }
    return filled == end;
  }

  private List<List<Range>> lists() {
    List<List<Range>> lists = new ArrayList<>(cores.values());
    lists.add(others);
    return lists;
  }

  /** The file's entries cannot have given this index. Never leaves the package. */
  static final class WrongIndexException extends Exception {
    private static final long serialVersionUID = 1;
  }
}
