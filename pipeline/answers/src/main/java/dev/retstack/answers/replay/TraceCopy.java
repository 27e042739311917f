package dev.retstack.answers.replay;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.file.IndexedTrace;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.file.TraceIndex;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Makes a trace of others: core by core, whole chunks in their order, each once, with the images
 * that they need. The new file takes its place when it is complete; until then, and where this
 * fails, what was there stays.
 */
public final class TraceCopy implements Closeable {
  private final Path to;
  private final Path part;
  private final TraceFileWriter writer;
  private final List<Path> files = new ArrayList<>();
  private final List<Set<TraceIndex.Core>> named = new ArrayList<>();
  private final List<IndexedTrace> traces = new ArrayList<>();
  private final TraceReplay.Progress progress;
  private final Set<String> images = new HashSet<>();
  private long cores;
  private long chunks;
  private long records;
  private long twice;

  /**
   * What was written.
   *
   * @param cores cores with chunks
   * @param twice chunks that were left out, since the same one was there already
   * @param cut whether one of the files was cut off: then so is what was written
   * @param notices what was wrong with the files, one sentence each
   */
  public record Copied(
      long cores,
      long images,
      long chunks,
      long records,
      long twice,
      boolean cut,
      List<String> notices) {
    public Copied {
      notices = List.copyOf(notices);
    }
  }

  private record Place(int file, TraceIndex.Range range) {}

  private TraceCopy(List<Path> from, Path to, TraceReplay.Progress progress) throws IOException {
    this.to = to;
    this.progress = progress;
    boolean isFile = !Files.exists(to) || Files.isRegularFile(to);
    part = isFile ? to.resolveSibling(to.getFileName() + ".part") : to;
    try {
      for (Path file : from) {
        if (Files.exists(to) && Files.isSameFile(file, to)) {
          throw new InvalidTraceException(
              "%s is read and would be replaced; give another file for the result".formatted(file),
              null);
        }
        files.add(file);
        traces.add(IndexedTrace.open(file));
        named.add(traces.getLast().index().cores());
        if (traces.getLast().index().hasOthers()) {
          throw new InvalidTraceException(
              "%s has more than %,d cores: its index does not name them all"
                  .formatted(file, traces.getLast().index().cores().size()),
              null);
        }
      }
      writer = TraceFileWriter.open(part);
    } catch (IOException | RuntimeException e) {
      closeTraces();
      throw e;
    }
  }

  /**
   * The chunks of a window: those from the last keyframe before it, and one behind it. So each view
   * of the window is that of the file it was cut from.
   *
   * @param to the new file
   */
  public static Copied cut(
      Path file, TraceReplay.Window window, Path to, TraceReplay.Progress progress)
      throws IOException {
    try (TraceCopy copy = new TraceCopy(List.of(file), to, progress)) {
      IndexedTrace trace = copy.traces.getFirst();
      for (TraceIndex.Core core : copy.cores(window.core())) {
        List<Place> places = new ArrayList<>();
        trace
            .chunksAround(core.session(), core.core(), window.from(), window.to())
            .forEach(range -> places.add(new Place(0, range)));
        copy.write(places);
      }
      return copy.finish();
    }
  }

  /**
   * All chunks of these files.
   *
   * @param to the new file
   * @throws InvalidTraceException also where two files have different chunks of one number
   */
  public static Copied merge(List<Path> from, Path to, TraceReplay.Progress progress)
      throws IOException {
    try (TraceCopy copy = new TraceCopy(from, to, progress)) {
      for (TraceIndex.Core core : copy.cores(_ -> true)) {
        List<Place> places = new ArrayList<>();
        for (int i = 0; i < copy.traces.size(); i++) {
          IndexedTrace trace = copy.traces.get(i);
          if (trace.index().cores().contains(core)) {
            int which = i;
            trace
                .chunksOf(core.session(), core.core(), Long.MIN_VALUE, Long.MAX_VALUE)
                .forEach(range -> places.add(new Place(which, range)));
          }
        }
        places.sort(Comparator.comparingLong(place -> place.range().sequence()));
        copy.write(places);
      }
      return copy.finish();
    }
  }

  private Set<TraceIndex.Core> cores(Predicate<CoreKey> wanted) throws InvalidTraceException {
    Set<TraceIndex.Core> all = new LinkedHashSet<>();
    traces.forEach(trace -> all.addAll(trace.index().cores()));
    Set<TraceIndex.Core> found = new LinkedHashSet<>(all);
    found.removeIf(core -> !wanted.test(new CoreKey(core.session(), core.core())));
    if (found.isEmpty() && !all.isEmpty()) {
      SessionNames names = SessionNames.of(all.stream().map(TraceIndex.Core::session));
      throw new InvalidTraceException(
          "no such core in %s: it has %s"
              .formatted(
                  files.getFirst(),
                  all.stream()
                      .map(core -> names.name(core.core(), core.session()))
                      .sorted()
                      .collect(Collectors.joining(", "))),
          null);
    }
    return found;
  }

  /** The chunks of one core, by their numbers. */
  private void write(List<Place> places) throws IOException {
    cores += places.isEmpty() ? 0 : 1;
    Place before = null;
    Chunk last = null;
    for (Place place : places) {
      Chunk chunk = traces.get(place.file()).chunk(place.range());
      if (last != null && last.getSequence() == chunk.getSequence()) {
        if (!last.equals(chunk)) {
          throw differ(chunk, before, place);
        }
        twice++;
        continue;
      }
      if (images.add(chunk.getImage())) {
        writer.write(image(chunk, place));
      }
      for (String other : chunk.getImages()) {
        Image image = images.add(other) ? traces.get(place.file()).image(other) : null;
        if (image != null) {
          writer.write(image);
        }
      }
      writer.write(chunk);
      records += chunk.getRecordCount();
      progress.advanced(++chunks, records);
      before = place;
      last = chunk;
    }
  }

  private Image image(Chunk chunk, Place place) throws IOException {
    Image image = traces.get(place.file()).image(chunk.getImage());
    if (image == null) {
      throw InvalidTraceException.withoutImage(files.get(place.file()), chunk);
    }
    return image;
  }

  private InvalidTraceException differ(Chunk chunk, Place one, Place other) {
    return new InvalidTraceException(
        "chunk %d of core %s of session %s is one in %s and another in %s: they are of different runs; give each run a session of its own"
            .formatted(
                chunk.getSequence(),
                chunk.getCore(),
                chunk.getSession(),
                files.get(one.file()),
                files.get(other.file())),
        null);
  }

  private Copied finish() throws IOException {
    for (int i = 0; i < traces.size(); i++) {
      if (!traces.get(i).index().cores().equals(named.get(i))) {
        throw new InvalidTraceException(
            "%s: its index leaves out cores; make it anew with \"retstack index %s\", and try again"
                .formatted(files.get(i), files.get(i)),
            null);
      }
    }
    boolean cut = traces.stream().anyMatch(IndexedTrace::isCut);
    if (cut) {
      writer.setCut();
    }
    writer.close();
    if (!part.equals(to)) {
      Files.move(part, to, StandardCopyOption.REPLACE_EXISTING);
    }
    List<String> notices =
        traces.stream().map(IndexedTrace::notice).filter(notice -> !notice.isEmpty()).toList();
    return new Copied(cores, images.size(), chunks, records, twice, cut, notices);
  }

  private void closeTraces() throws IOException {
    for (IndexedTrace trace : traces) {
      trace.close();
    }
  }

  @Override
  public void close() throws IOException {
    try (writer) {
      closeTraces();
    } finally {
      if (!part.equals(to)) {
        Files.deleteIfExists(part);
      }
    }
  }
}
