package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.export.FoldedExport;
import dev.retstack.answers.export.GraphView;
import dev.retstack.answers.export.PerfettoExport;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Rendering;
import dev.retstack.answers.view.AnomaliesView;
import dev.retstack.answers.view.Coverage;
import dev.retstack.answers.view.CoverageView;
import dev.retstack.answers.view.OpenCallsView;
import dev.retstack.answers.view.ReportView;
import dev.retstack.answers.view.TopView;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreReconstructor;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.coverage.CoverageBuilder;
import dev.retstack.graph.hot.HotCores;
import dev.retstack.graph.hot.HotCounter;
import dev.retstack.graph.hot.HotSettings;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.pyramid.JobPyramids;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.OpenCallRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskRow;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.ForgedLog;
import dev.retstack.graph.snapshot.JoinedParts;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.top.StateTotals;
import dev.retstack.graph.top.TopBuilder;
import dev.retstack.graph.top.TopSort;
import dev.retstack.graph.totals.InterruptTotals;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.publish.DerivedRecords;
import dev.retstack.simulation.HostileRecords.Case;
import dev.retstack.simulation.HostileRecords.Line;
import dev.retstack.simulation.HostileRecords.Other;
import dev.retstack.simulation.HostileRecords.Send;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Any records, in any order and under any limits: nothing is thrown, the sums hold, no call is
 * invented, a state that was written continues as the original does, and all of it can be shown.
 * {@code -Dretstack.hostile=N} takes N records, {@code -Dretstack.hostile.first} is the first seed,
 * {@code -Dretstack.seed} the one that failed.
 */
class HostileRecordsTest {
  /** Of a budget in which all cores but one go to rest. */
  private static final long RESTS = 128 << 10;

  private static final long RECORDS = 40_000;

  /** Bytes made while a forged state is read: a few times what a packed tree may claim. */
  private static final long MOST = 256 << 20;

  private static final int KINDS = AnomalyKind.values().length;

  @Test
  void nothingIsThrownAndTheSumsHold() {
    Long one = Long.getLong("retstack.seed");
    long wanted = one == null ? Long.getLong("retstack.hostile", RECORDS) : 1;
    long seed = one == null ? Long.getLong("retstack.hostile.first", 1) : one;
    long records = 0;
    long first = seed;
    while (records < wanted) {
      Case hostile = HostileRecords.of(seed++);
      records += hostile.records();
      try {
        run(hostile, hostile.steps());
      } catch (RuntimeException | AssertionError | StackOverflowError e) {
        throw failure(hostile, e);
      }
    }
    System.out.println(records + " hostile records of seeds " + first + " to " + (seed - 1));
  }

  /** {@code -Dretstack.hostile.states=N} forges N states. */
  @Test
  void aForgedStateIsRefusedOrServes() throws IOException {
    Long one = Long.getLong("retstack.seed");
    long first = one == null ? Long.getLong("retstack.hostile.first", 1) : one;
    long states = one == null ? Long.getLong("retstack.hostile.states", 160) : 1;
    long served = 0;
    for (long seed = first; seed < first + states; seed++) {
      try {
        served += forge(seed) ? 1 : 0;
      } catch (RuntimeException | AssertionError | OutOfMemoryError | StackOverflowError e) {
        throw new AssertionError("reproduce with -Dretstack.seed=" + seed + ": " + e, e);
      }
    }
    System.out.println(states + " forged states, of which " + served + " were read");
  }

  /** Whether the state was read, which was written and then changed under a right checksum. */
  private static boolean forge(long seed) throws IOException {
    Case hostile = HostileRecords.of(seed / 16); // some of each
    StateBudget budget = seed % 4 == 0 ? new StateBudget(RESTS, 0) : StateBudget.UNLIMITED;
    GraphState state = new GraphState(hostile.limits(), hostile.rules(), budget);
    state.image(hostile.image());
    JobPyramids pyramids = new JobPyramids(budget);
    state.pyramids(pyramids);
    List<Send> sent = new ArrayList<>();
    hostile.steps().stream()
        .filter(Send.class::isInstance)
        .map(Send.class::cast)
        .forEach(sent::add);
    int half = sent.size() / 2;
    for (Send send : sent.subList(0, half)) {
      state.apply(send.meta(), send.core(), hostile.image().id(), send.batch());
    }
    SplittableRandom random = new SplittableRandom(seed);
    boolean ofLog = seed % 2 != 0;
    Map<String, byte[]> log = new HashMap<>(ofLog ? Map.of() : JoinedParts.of(state.copy()));
    if (ofLog) {
      Run.changes(state, pyramids, log);
    }
    forge(log, random);
    GraphState read;
    JobPyramids ofRead = new JobPyramids(StateBudget.UNLIMITED);
    long before = allocated();
    try {
      Map<String, byte[]> parts = new HashMap<>(log);
      ofRead = JobPyramids.takeFrom(parts, StateBudget.UNLIMITED);
      read = GraphState.readFrom(parts, hostile.limits(), StateBudget.UNLIMITED);
      read.pyramids(ofRead);
    } catch (IOException refused) {
      return false;
    } finally {
      assertThat(allocated() - before).as("bytes made of seed %d", seed).isLessThan(MOST);
    }
    for (Send send : sent.subList(half, sent.size())) {
      read.apply(send.meta(), send.core(), hostile.image().id(), send.batch());
    }
    for (ClockUnit unit : ClockUnit.values()) {
      Run.everyForm(ReportView.of(ReportBuilder.of(read).in(Optional.of(unit)).build(), 100));
    }
    var _ =
        Run.show(
            ReportBuilder.of(read).trees(),
            ReportBuilder.of(read).anomalies(),
            ReportBuilder.of(read).anomalies(AnomalySum.Query.DEFAULT));
    for (CoreKey core : ofRead.cores()) {
      Run.draw(read, core);
    }
    var _ = read.copy();
    Run.changes(read, ofRead, log);
    return true;
  }

  /** Changes parts of a log, or where they stand, under sums that are right. */
  private static void forge(Map<String, byte[]> log, SplittableRandom random) {
    List<String> keys = new ArrayList<>(new TreeSet<>(log.keySet()));
    String key = keys.get(random.nextInt(keys.size()));
    String other = keys.get(random.nextInt(keys.size()));
    switch (random.nextInt(8)) {
      case 0 -> log.remove(key);
      case 1 -> log.put(other, log.get(key));
      case 2 -> log.put(key.replaceAll("[0-9]+", "7"), log.get(key));
      case 3 -> log.put(key + "/h", log.get(other));
      default -> {
        byte[] part = log.get(key);
        if (part.length > HostileRecords.LEAST_TO_FORGE) {
          byte[] framed = Arrays.copyOf(part, part.length + Long.BYTES);
          byte[] forged = HostileRecords.forge(framed, random);
          log.put(key, Arrays.copyOf(forged, part.length));
        }
      }
    }
    if (log.getOrDefault("head", new byte[0]).length > HostileRecords.LEAST_TO_FORGE) {
      Map<String, byte[]> ofState = new HashMap<>(log);
      ofState.keySet().removeIf(part -> part.startsWith("y/")); // they have sums of their own
      ForgedLog.seal(ofState);
      log.putAll(ofState);
    }
  }

  private static long allocated() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getCurrentThreadAllocatedBytes();
  }

  private static AssertionError failure(Case hostile, Throwable first) {
    List<Line> fewer = HostileRecords.lines(hostile.steps());
    for (int before = fewer.size() + 1; fewer.size() < before; ) {
      before = fewer.size();
      fewer = new Shrinker<Line>(l -> run(hostile, HostileRecords.steps(l))).shrink(fewer);
    }
    Throwable why = first;
    try {
      run(hostile, HostileRecords.steps(fewer));
    } catch (RuntimeException | AssertionError | StackOverflowError e) {
      why = e;
    }
    StringBuilder text = new StringBuilder("reproduce with -Dretstack.seed=" + hostile.seed());
    text.append(": ").append(why);
    text.append(
        "\n%s %s %s".formatted(hostile.limits(), hostile.rules(), hostile.image().traits()));
    text.append("\nby task %s, threshold %d".formatted(hostile.byTask(), hostile.threshold()));
    fewer.forEach(line -> text.append('\n').append(line));
    return new AssertionError(text.toString(), why);
  }

  private static void run(Case hostile, List<HostileRecords.Step> steps) {
    try {
      new Run(hostile).all(steps);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A state, and one that was read from what it wrote and hears nobody. */
  private static final class Run {
    private final Case hostile;
    private final GraphState state;
    private final DerivedRecords derived;
    private final HotCores hot = new HotCores(HotCounter.Kind.SEED_TABLE, HotSettings.SEED);
    private final JobPyramids pyramids = new JobPyramids(StateBudget.UNLIMITED);
    private final Map<String, byte[]> log = new HashMap<>();
    private GraphState twin;
    private JobPyramids twinPyramids;
    private Map<String, byte[]> twinLog;
    private int snapshots;
    private long carried;
    private long entries;

    Run(Case hostile) {
      this.hostile = hostile;
      this.state =
          hostile.byTask()
              ? GraphState.byTask(hostile.limits(), hostile.rules())
              : new GraphState(hostile.limits(), hostile.rules());
      state.image(hostile.image());
      state.image(HostileRecords.library());
      if (!hostile.byTask()) { // as in a job
        state.pyramids(pyramids);
      }
      boolean all = hostile.threshold() == Long.MAX_VALUE;
      OptionalLong threshold = all ? OptionalLong.empty() : OptionalLong.of(hostile.threshold());
      derived = new DerivedRecords(Topics.standard(), 0, threshold, new Meters().partition(0));
      if (hostile.threshold() >= 0) {
        state.events(derived);
      }
    }

    void all(List<HostileRecords.Step> steps) throws IOException {
      for (HostileRecords.Step step : steps) {
        switch (step) {
          case Send send -> send(send);
          case Other.SNAPSHOT -> snapshot();
          case Other.LOOK -> look();
          case Other.PUBLISH -> publish();
        }
      }
      look();
      snapshot();
    }

    private void send(Send send) {
      RecordBatch batch = send.batch();
      for (int i = 0; i < batch.size(); i++) {
        entries += batch.kind[i] == RecordBatch.ENTRY ? 1 : 0;
      }
      var result = state.apply(send.meta(), send.core(), hostile.image().id(), batch);
      if (twin != null) {
        RecordBatch received =
            Wire.ALL_CODECS.carry(++carried, batch); // linked by whoever unpacks it
        assertThat(twin.apply(send.meta(), send.core(), hostile.image().id(), received))
            .isEqualTo(result);
      }
      ImageInfo image = state.findImage(hostile.image().id()).orElseThrow();
      hot.apply(send.meta(), send.core(), image, batch);
      derived.take();
    }

    private void snapshot() throws IOException {
      if (hostile.byTask()) {
        return;
      }
      byte[] written = state.copy();
      if (twin != null && twinLog == null) {
        same("the state that was read went on", written, twin.copy());
      } else if (twin != null) {
        same("the state of a log went on", settled(written), settled(twin.copy()));
      }
      changes(state, pyramids, log);
      if (twin != null && twinLog != null) {
        changes(twin, twinPyramids, twinLog);
        assertThat(twinLog.keySet()).as("parts of the state that went on").isEqualTo(log.keySet());
        log.keySet().stream()
            .filter(key -> key.startsWith("y/"))
            .forEach(key -> same(key, log.get(key), twinLog.get(key)));
      }
      twin = read(written);
      twinLog = null;
      same("read and written", written, twin.copy());
      if (++snapshots % 2 != 0) {
        Map<String, byte[]> parts = new HashMap<>(log);
        twinPyramids = JobPyramids.takeFrom(parts, StateBudget.UNLIMITED);
        GraphState logged = GraphState.readFrom(parts, hostile.limits(), StateBudget.UNLIMITED);
        logged.pyramids(twinPyramids);
        same("the log", settled(written), settled(logged.copy()));
        twin = logged;
        twinLog = new HashMap<>(log);
        assertThat(changes(twin, twinPyramids, twinLog).keySet())
            .as("changed by reading")
            .containsOnly("head");
      }
      assertThat(changes(state, pyramids, log).keySet())
          .as("changed by nothing")
          .containsOnly("head");
    }

    /**
     * One form of a state: a tree that was looked at is packed anew, and the log does not say so.
     */
    private byte[] settled(byte[] written) throws IOException {
      GraphState state = read(written);
      for (CoreGraph core : state.cores()) {
        for (int row = 0; row < core.tree().size(); row++) {
          core.tree().parent(row);
        }
      }
      return state.copy();
    }

    /** What changed, which goes into a log of parts. */
    private static Map<String, byte[]> changes(
        GraphState state, JobPyramids pyramids, Map<String, byte[]> log) throws IOException {
      Map<String, byte[]> changed = new HashMap<>();
      StateChanges to =
          new StateChanges() {
            @Override
            public void put(String key, byte[] part) {
              assertThat(changed.put(key, part)).as("%s, written twice", key).isNull();
              log.put(key, part);
            }

            @Override
            public void remove(String key) {
              assertThat(log.remove(key)).as("%s, removed", key).isNotNull();
            }
          };
      state.writeChanges(to);
      pyramids.writeChanges(to);
      return changed;
    }

    private static void same(String what, byte[] expected, byte[] got) {
      int at = Arrays.mismatch(expected, got);
      assertThat(at)
          .as("%s: %d and %d bytes differ from here on", what, expected.length, got.length)
          .isNegative();
    }

    private GraphState read(byte[] copy) throws IOException {
      return GraphState.ofCopy(copy, hostile.limits(), StateBudget.UNLIMITED);
    }

    private void publish() {
      var _ = derived.checkpoint(state, 0, true).get();
    }

    private void look() throws IOException {
      look(state);
      if (twin != null) { // it unpacks a tree, which is then packed anew
        look(twin);
      }
    }

    private void look(GraphState at) throws IOException {
      long begun = 0;
      for (CoreGraph core : at.cores()) {
        check(core);
        draw(at, core.key());
        begun += core.progress().entries();
      }
      assertThat(begun).as("calls, of which none is invented").isLessThanOrEqualTo(entries);
      at.profiles(
          (_, profile) -> {
            assertThat(profile.functionCount()).isLessThanOrEqualTo(hostile.limits().functions());
            assertThat(profile.edgeCount()).isLessThanOrEqualTo(hostile.limits().edges());
          });
      for (ClockUnit unit : ClockUnit.values()) {
        show(ReportBuilder.of(at).in(Optional.of(unit)).build());
      }
      StrictPerfetto.read(
          show(
              ReportBuilder.of(at).trees(),
              ReportBuilder.of(at).anomalies(),
              ReportBuilder.of(at).anomalies(AnomalySum.Query.DEFAULT)));
      ByteOutput totals = new ByteOutput(1 << 10);
      if (!hostile.byTask()) {
        StateTotals.of(at).writeTo(totals);
        everyForm(
            TopView.of(
                new TopBuilder()
                    .read(new ByteInput(totals.take()), 0)
                    .build(Optional.of(ClockUnit.INSTRUCTIONS), TopSort.SELF, Grouping.GROUPS, 10),
                core -> core.end().name(),
                10,
                new Coverage(List.of(0), 1)));
      }
      everyForm(CoverageView.of(new CoverageBuilder().add(hostile.image()).add(at).build(), true));
      hot.cores();
      hot.merged(false);
    }

    /** Asks for windows of what a core did when. */
    private static void draw(GraphState at, CoreKey core) throws IOException {
      Pyramid drawn = at.drawn(core).map(GraphState.Drawn::pyramid).orElse(null);
      if (drawn == null) {
        return;
      }
      for (long end : new long[] {0, 100, 1 << 20, Long.MAX_VALUE}) {
        Timeline.Question question = new Timeline.Question(end / 3, end, 40, 20);
        for (Timeline.Row row : Timeline.of(drawn.tiles(), question).rows()) {
          assertThat(row.to()).as("%s", row).isGreaterThan(row.from());
          assertThat(Math.min(row.calls(), row.busy())).as("%s", row).isNotNegative();
        }
      }
    }

    private void check(CoreGraph core) {
      CoreReconstructor p = core.progress();
      long ended = 0;
      for (int code = 0; code < Ending.count(); code++) {
        long n = Ending.of(code) == Ending.OPEN ? 0 : p.ended(Ending.of(code));
        assertThat(n).isNotNegative();
        ended += n;
      }
      assertThat(p.open()).isNotNegative();
      assertThat(ended + p.open()).as("endings").isEqualTo(p.entries() + p.adopted());
      assertThat(core.stats().get(Stat.ADOPTED_CALLS)).isEqualTo(p.adopted());
      assertThat(p.lost()).isNotNegative();
      assertThat(p.records()).isNotNegative();
      for (Stat stat : Stat.values()) {
        assertThat(core.stats().get(stat)).as(stat.name()).isNotNegative();
      }
      for (long number : core.interrupts().numbers()) {
        InterruptTotals.Totals t = core.interrupts().get(number);
        assertThat(Math.min(t.total(), t.max())).as("time of interrupts").isNotNegative();
        assertThat(t.finished()).isLessThanOrEqualTo(t.count());
      }
      CallTreeLog tree = core.tree();
      assertThat(tree.size()).isLessThanOrEqualTo(hostile.limits().treeCallsPerCore());
      for (int row = 0; row < tree.size(); row++) {
        assertThat(tree.parent(row)).isLessThan(row);
        assertThat(tree.exit(row))
            .as(
                "end of row %d, %s %s in %d",
                row, tree.kind(row), tree.ending(row), tree.parent(row))
            .isGreaterThanOrEqualTo(tree.enter(row));
      }
      assertThat(p.tasks()).hasSizeLessThanOrEqualTo(hostile.limits().tasks());
      assertThat(p.slots()).isLessThanOrEqualTo(hostile.limits().maxDepth());
      assertThat(core.anomalies().rows())
          .hasSizeLessThanOrEqualTo(KINDS * hostile.limits().anomaliesPerKind());
    }

    private void show(Report report) throws IOException {
      for (FunctionRow f : report.functions()) {
        assertThat(Math.min(Math.min(f.total(), f.self()), Math.min(f.min(), f.max())))
            .as("time of %s", f)
            .isNotNegative();
        assertThat(f.self()).as("self of %s", f).isLessThanOrEqualTo(f.sum());
        assertThat(f.total()).as("total of %s", f).isLessThanOrEqualTo(f.sum());
        assertThat(f.finished()).as("finished of %s", f).isLessThanOrEqualTo(f.calls());
      }
      report
          .cores()
          .forEach(
              core -> {
                assertThat(core.completeness()).isBetween(0.0, 100.0);
                for (TaskRow task : core.tasks()) {
                  assertThat(task.ran()).as("%s ran", task).isNotNegative();
                  assertThat(task.completeness()).isBetween(0.0, 100.0);
                }
              });
      everyForm(ReportView.of(report, 100));
      everyForm(ReportView.edges(report, 100));
    }

    private static void everyForm(Rendering view) {
      for (Format form : Format.values()) {
        assertThat(view.as(form)).isNotNull();
      }
    }

    private static byte[] show(
        List<CallTree> trees, List<AnomalyRow> anomalies, List<AnomalySum> sums)
        throws IOException {
      everyForm(GraphView.of(trees, anomalies, 1000, false));
      FoldedExport.write(trees, false, true, false, new StringBuilder());
      ByteArrayOutputStream perfetto = new ByteArrayOutputStream();
      PerfettoExport.write(trees, anomalies, false, perfetto);
      everyForm(AnomaliesView.of(sums));
      everyForm(OpenCallsView.of(OpenCallRow.of(trees), 0, Optional.empty()));
      for (CallTree tree : trees) {
        tree.within(5, 20);
      }
      return perfetto.toByteArray();
    }
  }
}
