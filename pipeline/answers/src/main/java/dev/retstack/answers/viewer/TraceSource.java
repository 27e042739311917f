package dev.retstack.answers.viewer;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.question.Drawers;
import dev.retstack.answers.question.HitsQuestion;
import dev.retstack.answers.question.QuerySource;
import dev.retstack.answers.question.View;
import dev.retstack.answers.question.WindowQuestion;
import dev.retstack.answers.replay.InvalidTraceException;
import dev.retstack.answers.replay.PyramidPass;
import dev.retstack.answers.replay.TraceCopy;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.answers.search.CallSearch;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.AboutView;
import dev.retstack.answers.view.Coverage;
import dev.retstack.answers.view.TimelineView;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.top.StateTotals;
import dev.retstack.graph.top.TopBuilder;
import dev.retstack.schema.file.CorruptTraceException;
import dev.retstack.schema.file.TraceIndex;
import dev.retstack.schema.wire.NearNames;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A recorded trace. Questions about a time are answered from its index and pyramid at once. What
 * all of it adds up to is read in the background; a caller that asks earlier waits a while, and
 * then gets the progress. A trace without a pyramid gets one in a copy, which is deleted in the
 * end.
 */
public final class TraceSource implements QuerySource, Closeable {
  /** Calls of the tree of a whole core; a time of it shows all of its calls. */
  private static final int TREE_CALLS = 1 << 14;

  /** Records of a window that is rebuilt: some seconds of work. */
  private static final long WINDOW_RECORDS_MAX = 1L << 26;

  private static final long TRACE_BYTES_MAX = 16 << 20;
  private static final Duration PATIENCE = Duration.ofSeconds(8);

  /** In this time after the start a browser is expected to show its first page. */
  private static final Duration HEAD_START = Duration.ofSeconds(1);

  private static final int FIRST_CORES = 16;
  private static final int FIRST_WIDTH = 640;
  private static final int FIRST_LINES = 20;

  private static final TraceReplay.Progress UNSEEN = (_, _) -> {};

  private final Path file;
  private final LateSymbols symbols;
  private final HeapRoom room = new HeapRoom(HttpSettings.LOCAL.heldBytesMax());
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CompletableFuture<GraphState> whole = new CompletableFuture<>();
  private final List<AboutView.TracedCore> cores = new ArrayList<>();
  private final Set<String> notices = new LinkedHashSet<>();
  private final Drawers drawers = new Drawers();
  private final Precedence precedence = new Precedence();
  private final ReadWriteLock pyramids = new ReentrantReadWriteLock(); // which timeline it is
  private final long chunks;
  private final Readings<WindowQuestion, GraphState> stacks;
  private final Readings<HitsQuestion, CallSearch.Found> searches;
  private final Coverage coverage;
  private TraceTimeline timeline;
  private Path copy;
  private volatile AboutView.Reading reading;
  private volatile boolean closed;

  private TraceSource(Path file, LateSymbols symbols) throws IOException {
    this.file = file;
    this.symbols = symbols;
    timeline = TraceTimeline.open(file, symbols);
    timeline.willCompareAll();
    coverage = Coverage.ofTrace(timeline.isCut());
    long all = 0;
    for (TraceIndex.Core core : timeline.cores()) {
      long records = 0;
      for (TraceIndex.Range range : timeline.rangesOf(core)) {
        records += range.records();
        all++;
      }
      cores.add(
          new AboutView.TracedCore(
              core.core(),
              core.session(),
              records,
              timeline.rangesOf(core).getFirst().firstTime(),
              timeline.lastTime(core)));
    }
    chunks = all;
    stacks = new Readings<>("stacks", chunks, System::nanoTime);
    searches = new Readings<>("search", chunks, System::nanoTime);
    notices.addAll(timeline.notices());
    reading = new AboutView.Reading("pyramid", 0, chunks, 0, "");
  }

  /**
   * Opens a trace. {@link #read} reads it.
   *
   * @param symbols for images that come without
   * @throws CorruptTraceException when the file is not a trace, or changed
   * @throws InvalidTraceException when it was cut off so early that there is nothing to show
   */
  public static TraceSource open(Path file, LateSymbols symbols) throws IOException {
    TraceSource source = new TraceSource(file, symbols);
    if (source.cores.isEmpty() && !source.notices.isEmpty()) {
      source.close();
      throw new InvalidTraceException(
          String.join("; ", source.notices) + "; nothing of it can be shown: record it again",
          null);
    }
    return source;
  }

  /** Begins to read all of it, for totals. Times can be asked for before. */
  void read() {
    Thread.ofPlatform().name("retstack-view").daemon().start(this::readAll);
  }

  private void readAll() {
    try {
      if (records() > TraceTimeline.RECORDS_MAX) {
        precedence.expect(HEAD_START);
        drawFirst();
      }
      if (!timeline.hasPyramid() && records() > TraceTimeline.RECORDS_MAX) {
        addPyramid();
      }
      GraphLimits limits = GraphLimits.DEFAULT.withTreeCallsPerCore(TREE_CALLS);
      TraceReplay.Replayed read =
          TraceReplay.read(file, new GraphState(limits).named(symbols), progress("report"));
      note(read.notice());
      long records = read.state().summaries().stream().mapToLong(CoreSummary::records).sum();
      reading = new AboutView.Reading("ready", chunks, chunks, records, "");
      whole.complete(read.state());
      compare();
    } catch (IOException | RuntimeException e) {
      reading = new AboutView.Reading("failed", reading.chunks(), chunks, 0, message(e));
      whole.completeExceptionally(
          new BadRequestException(422, message(e), "ask for a time without what is wrong"));
    }
  }

  /** A pyramid that the file came with is believed as far as its chunks confirm it. */
  private void compare() throws IOException {
    if (copy == null && timeline.hasPyramid()) {
      timeline.compareAll((_, _) -> giveWay());
      timeline.notices().forEach(this::note);
      if (!timeline.hasPyramid() && records() > TraceTimeline.RECORDS_MAX) {
        addPyramid();
      }
    }
  }

  /** Draws what the first page asks for: then its tiles are at hand, and the code has run once. */
  private void drawFirst() {
    if (timeline.hasPyramid()) {
      try {
        WindowQuestion whole = WindowQuestion.of(Map.of());
        List<TraceIndex.Core> first = meant(whole);
        TraceTimeline.Drawing drawing = new TraceTimeline.Drawing(FIRST_WIDTH, FIRST_LINES, false);
        List<TraceTimeline.Answer> drawn =
            draw(first.subList(0, Math.min(FIRST_CORES, first.size())), whole, drawing);
        var _ = TimelineView.of(drawn, true).as(Format.JSON);
      } catch (IOException | BadRequestException e) {
        // a person who asks gets the error
      }
    }
  }

  private static String message(Throwable e) {
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }

  private long records() {
    return cores.stream().mapToLong(AboutView.TracedCore::records).sum();
  }

  private TraceReplay.Progress progress(String phase) {
    return (done, records) -> {
      reading = new AboutView.Reading(phase, done, chunks, records, "");
      giveWay();
    };
  }

  /** What somebody waits for is done first. */
  private void giveWay() {
    if (closed) {
      throw new CancellationException();
    }
    try {
      precedence.giveWay();
    } catch (InterruptedException e) {
      throw new CancellationException();
    }
  }

  private void note(String notice) {
    if (!notice.isEmpty()) {
      synchronized (notices) {
        notices.add(notice);
      }
    }
  }

  /**
   * The timeline is then read from a copy that has a pyramid; where that fails, from the chunks.
   */
  private void addPyramid() throws IOException {
    Path made = Files.createTempFile("retstack-view", ".avro");
    pyramids.writeLock().lock();
    try {
      copy = made;
    } finally {
      pyramids.writeLock().unlock();
    }
    try {
      TraceCopy.merge(List.of(file), made, UNSEEN);
      PyramidPass.write(made, progress("pyramid"));
    } catch (CorruptTraceException | InvalidTraceException e) {
      note("no pyramid could be made, so a timeline reads its chunks: " + e.getMessage());
      return;
    }
    TraceTimeline better = TraceTimeline.open(made, symbols);
    better.willCompareAll(); // and need not: it was just made
    pyramids.writeLock().lock();
    try {
      if (closed) {
        better.close();
        return;
      }
      timeline.close();
      timeline = better;
    } finally {
      pyramids.writeLock().unlock();
    }
    note(
        "%s has no right pyramid, so one was made in a copy: \"retstack index %s\" writes it for good"
            .formatted(file, file));
  }

  @Override
  public Document about() {
    synchronized (notices) {
      return AboutView.trace(
          file.toString(),
          reading,
          Stream.concat(searches.underWay(), stacks.underWay()).toList(),
          cores,
          coverage.cut(),
          List.copyOf(notices));
    }
  }

  @Override
  public HeapRoom room() {
    return room;
  }

  @Override
  public CompletionStage<View> view(HeapRoom.Share share) {
    return all().thenApplyAsync(state -> new View(state, coverage), threads);
  }

  @Override
  public CompletionStage<Cores> cores(HeapRoom.Share share) {
    return all()
        .thenApply(
            state ->
                new Cores(
                    state.summaries().stream()
                        .map(core -> CoreProgress.of(0, core))
                        .sorted(Comparator.comparing(CoreProgress::key))
                        .toList(),
                    ForgottenSessions.NONE,
                    List.of(),
                    coverage));
  }

  @Override
  public CompletionStage<Totals> totals(HeapRoom.Share share) {
    return all()
        .thenApplyAsync(
            state -> {
              ByteArrayOutputStream bytes = new ByteArrayOutputStream();
              try {
                StateTotals.of(state).writeTo(new DataOutputStream(bytes));
                TopBuilder totals = new TopBuilder();
                totals.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), 0);
                return new Totals(totals, core -> core.end().name(), coverage);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            },
            threads);
  }

  /** The state of the whole trace. */
  private CompletableFuture<GraphState> all() {
    return awaited(whole, () -> reading);
  }

  /** What is read; a refusal that says how far it is, where it takes longer. */
  private static <T> CompletableFuture<T> awaited(
      CompletableFuture<T> answer, Supplier<AboutView.Reading> reading) {
    return answer
        .copy()
        .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(
            e -> {
              Throwable cause = e instanceof CompletionException ? e.getCause() : e;
              if (cause instanceof TimeoutException) {
                AboutView.Reading now = reading.get();
                throw new BadRequestException(
                    503,
                    "the trace is being read: %s, %,d of %,d chunks"
                        .formatted(now.phase(), now.chunks(), now.of()),
                    "ask again in a moment, or for a time of it");
              }
              throw cause instanceof RuntimeException known
                  ? known
                  : new CompletionException(cause);
            });
  }

  @Override
  public CompletionStage<Seen> window(
      WindowQuestion question, boolean counts, HeapRoom.Share share) {
    return soon(
        () -> {
          long start = System.nanoTime();
          long records = requireFew(question);
          GraphState state = new GraphState().named(symbols);
          TraceReplay.read(file, state, question.window(counts), UNSEEN);
          return new Seen(
              new View(state, coverage), cost(state.summaries().size(), records, start));
        });
  }

  @Override
  public CompletionStage<Seen> stacks(WindowQuestion question, HeapRoom.Share share) {
    final long start = System.nanoTime();
    int meant;
    synchronized (pyramids) {
      meant = meant(question).size();
    }
    Readings<WindowQuestion, GraphState>.Asked asked =
        stacks.ask(question, progress -> checked(() -> readStacks(question, meant, progress)));
    return awaited(asked.answer(), asked::reading)
        .thenApply(state -> new Seen(new View(state, coverage), cost(meant, 0, start)));
  }

  private GraphState readStacks(WindowQuestion question, int meant, TraceReplay.Progress progress)
      throws IOException {
    GraphState state = new GraphState(View.stackLimits(meant)).named(symbols);
    GraphState read =
        question.isAll()
            ? TraceReplay.read(file, state, progress).state()
            : TraceReplay.read(file, state, question.window(true), progress).state();
    return read;
  }

  @Override
  public CompletionStage<Searched> hits(HitsQuestion question, HeapRoom.Share share) {
    final long start = System.nanoTime();
    List<TraceIndex.Core> meant;
    pyramids.readLock().lock();
    try {
      meant = meant(question.window());
    } finally {
      pyramids.readLock().unlock();
    }
    Readings<HitsQuestion, CallSearch.Found>.Asked asked =
        searches.ask(question, progress -> checked(() -> search(question, meant, progress)));
    return awaited(asked.answer(), asked::reading)
        .thenApply(found -> new Searched(found, coverage, cost(meant.size(), 0, start)));
  }

  /** How far the cores before and this one were read together. */
  private static final class Sum implements TraceReplay.Progress {
    private final TraceReplay.Progress all;
    private long[] before = {0, 0};
    private long[] now = {0, 0};

    Sum(TraceReplay.Progress all) {
      this.all = all;
    }

    @Override
    public void advanced(long chunks, long records) {
      now = new long[] {before[0] + chunks, before[1] + records};
      all.advanced(now[0], now[1]);
    }

    void next() {
      before = now;
    }
  }

  private CallSearch.Found search(
      HitsQuestion question, List<TraceIndex.Core> cores, TraceReplay.Progress progress)
      throws IOException {
    CallSearch search = question.search();
    Sum sum = new Sum(progress);
    try (TraceTimeline read = TraceTimeline.open(file, symbols)) {
      for (TraceIndex.Core core : cores) {
        GraphState state = PyramidPass.state(search).named(symbols);
        WindowQuestion window = question.window();
        var _ = read.read(core, window.first(), window.last(), state, sum);
        sum.next();
        state.cores().forEach(PyramidPass::closeOpen);
      }
    }
    return search.found();
  }

  @Override
  public CompletionStage<Traced> trace(WindowQuestion question, HeapRoom.Share share) {
    return soon(
        () -> {
          long start = System.nanoTime();
          long records = requireFew(question);
          Path cut = Files.createTempFile("retstack-cut", ".avro");
          try {
            TraceCopy.Copied copied = TraceCopy.cut(file, question.window(true), cut, UNSEEN);
            if (Files.size(cut) > TRACE_BYTES_MAX) {
              throw new BadRequestException(
                  413,
                  "these chunks take %,d bytes of at most %,d"
                      .formatted(Files.size(cut), TRACE_BYTES_MAX),
                  "retstack cut has no such limit");
            }
            return new Traced(
                Files.readAllBytes(cut), coverage, cost((int) copied.cores(), records, start));
          } finally {
            Files.delete(cut);
          }
        });
  }

  private static Cost cost(int cores, long records, long start) {
    return new Cost(cores, 0, records, 0, (System.nanoTime() - start) / 1_000_000);
  }

  /** Records that a window is rebuilt from, at most. */
  private long requireFew(WindowQuestion question) {
    long records = 0;
    pyramids.readLock().lock();
    try {
      for (TraceIndex.Core core : meant(question)) {
        records += timeline.records(core, question.first(), question.last());
      }
    } finally {
      pyramids.readLock().unlock();
    }
    if (records > WINDOW_RECORDS_MAX) {
      throw new BadRequestException(
          413,
          "there are %,d records in this time, of at most %,d"
              .formatted(records, WINDOW_RECORDS_MAX),
          "ask for a shorter time, or for a core; or without a time for all of the trace");
    }
    return records;
  }

  private List<TraceIndex.Core> meant(WindowQuestion question) {
    List<TraceIndex.Core> meant =
        timeline.cores().stream()
            .filter(core -> question.core().isEmpty() || question.core().equals(core.core()))
            .filter(
                core -> question.session().isEmpty() || question.session().equals(core.session()))
            .sorted(Comparator.comparing(core -> new CoreKey(core.session(), core.core())))
            .toList();
    if (meant.isEmpty()) {
      String near =
          String.join(
              ", ",
              NearNames.of(
                  question.core(),
                  timeline.cores().stream().map(TraceIndex.Core::core).toList(),
                  3));
      throw new BadRequestException(
          404,
          "no core %s in this trace".formatted(question.core()),
          (near.isEmpty() ? "" : "did you mean " + near + "? ") + "GET /about lists them");
    }
    return meant;
  }

  @Override
  public CompletionStage<Drawn> timeline(
      WindowQuestion question, TraceTimeline.Drawing drawing, HeapRoom.Share share) {
    return soon(
        () -> {
          long start = System.nanoTime();
          List<TraceTimeline.Answer> drawn = draw(meant(question), question, drawing);
          return new Drawn(drawn, coverage, cost(drawn.size(), 0, start));
        });
  }

  private List<TraceTimeline.Answer> draw(
      List<TraceIndex.Core> cores, WindowQuestion question, TraceTimeline.Drawing drawing)
      throws IOException {
    pyramids.readLock().lock();
    try {
      List<Drawers.Core> asked = new ArrayList<>();
      for (TraceIndex.Core core : cores) {
        asked.add(
            () ->
                timeline.answer(
                    core, drawing.of(question.first(), question.last()), drawing.chunks(), UNSEEN));
      }
      return drawers.draw(asked, drawing);
    } finally {
      pyramids.readLock().unlock();
    }
  }

  /** Does it in a separate thread; the caller gets what is wrong with the trace. */
  private <T> CompletionStage<T> soon(Callable<T> work) {
    Callable<T> checked = checked(work);
    return CompletableFuture.supplyAsync(
        () -> {
          precedence.begin();
          try {
            return checked.call();
          } catch (RuntimeException e) {
            throw e;
          } catch (Exception e) {
            throw new CompletionException(e);
          } finally {
            precedence.end();
          }
        },
        threads);
  }

  private static <T> Callable<T> checked(Callable<T> work) {
    return () -> {
      try {
        return work.call();
      } catch (CorruptTraceException | InvalidTraceException e) {
        throw new BadRequestException(
            422, message(e), "ask for a time without what is wrong, or record it again");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  @Override
  public void close() throws IOException {
    pyramids.writeLock().lock();
    try {
      closed = true;
      timeline.close();
      if (copy != null) {
        Files.deleteIfExists(copy);
        Files.deleteIfExists(copy.resolveSibling(copy.getFileName() + ".part"));
      }
    } finally {
      pyramids.writeLock().unlock();
    }
    drawers.close();
    stacks.close();
    searches.close();
    threads.shutdown();
  }
}
