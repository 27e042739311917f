package dev.retstack.graph.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.Stream;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.stacks.StackNode;
import dev.retstack.graph.stacks.StackReport;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.symbol.SymbolTable.Symbol;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows of one program in many images are one row, and no number is lost on the way. */
class GroupingTest {
  private static final int ROUNDS = 20;
  private static final List<String> ISAS = List.of("x86_64", "arm", "s390x");
  private static final List<String> NAMES = List.of("main", "walk", "hash", "emit", "leap");

  /** Some images have this name twice, as files of C may with static functions. */
  private static final String TWICE = "init";

  private static final long BYTES = 0x40;

  @ParameterizedTest
  @CsvSource({
    "zoo-arm-mcount.elf, arm, zoo",
    "zoo-x86_64-fentry.elf, x86_64, zoo",
    "my-tool.riscv64, riscv64, my-tool",
    "zoo-mips64-mcount.elf, mips, zoo-mips64-mcount.elf",
    "farm-arm.elf, arm, farm",
    "arm-boot.elf, arm, arm-boot.elf",
    "-arm.elf, arm, -arm.elf",
    "a.out, arm, a.out",
    "alarm, arm, alarm",
    "zoo, '', zoo"
  })
  void aProgramIsTheFileNameUpToTheIsa(String file, String isa, String program) {
    assertThat(new ImageInfo("1", file, isa, traits(), SymbolTable.EMPTY).program())
        .isEqualTo(program);
  }

  private static ImageTraits traits() {
    return new ImageTraits(true, true, Stream.HANDLER, Stream.HANDLER + 256 * 16);
  }

  /** An image whose functions lie in any order. */
  private static ImageInfo image(Random random, String program, int number) {
    String isa = ISAS.get(random.nextInt(ISAS.size()));
    List<String> names = new ArrayList<>(NAMES);
    names.addAll(Collections.nCopies(1 + random.nextInt(2), TWICE));
    Collections.shuffle(names, random);
    List<Symbol> symbols = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      List<String> others = new ArrayList<>();
      for (String end : List.of("_a", "_b", "_c")) {
        if (random.nextInt(3) == 0) {
          others.add(name + end);
        }
      }
      symbols.add(
          new Symbol(
              new FunctionName(name, others),
              0x1000 + 0x100L * number + i * BYTES,
              BYTES,
              SourceLine.NONE));
    }
    if (random.nextInt(8) == 0) {
      symbols.clear(); // stripped
    }
    String file = "%s-%s-%d.elf".formatted(program, isa, number);
    return new ImageInfo("id" + number, file, isa, traits(), SymbolTable.of(symbols));
  }

  private static GraphState fleet(Random random) {
    GraphState state = new GraphState();
    int number = 0;
    for (String program : List.of("zoo", "net")) {
      for (int i = 1 + random.nextInt(5); i > 0; i--) {
        ImageInfo image = image(random, program, number++);
        state.image(image);
        for (int core = 1 + random.nextInt(3); core > 0; core--) {
          run(state, image, "core" + number + "-" + core, random);
        }
      }
    }
    return state;
  }

  /** Calls at random; some come back with another frame pointer. */
  private static void run(GraphState state, ImageInfo image, String core, Random random) {
    int number = Integer.parseInt(image.id().substring(2));
    RecordBatch batch = new RecordBatch(4096);
    Deque<long[]> open = new ArrayDeque<>();
    long time = 0;
    for (int step = 0; step < 300; step++) {
      time += 1 + random.nextInt(9);
      int depth = open.size();
      if (depth == 0 || (depth < 12 && random.nextBoolean())) {
        long self = 0x1000 + 0x100L * number + random.nextInt(NAMES.size() + 1) * BYTES + 4;
        long from = depth == 0 ? 0x900 : Stream.returnTo(open.peek()[0]);
        open.push(new long[] {self, from});
        batch.add(RecordBatch.ENTRY, time, depth, self, from, Stream.slot(depth), Stream.fp(depth));
      } else {
        long[] top = open.pop();
        long fp = random.nextInt(20) == 0 ? 0x4141 : Stream.fp(depth - 1);
        batch.add(RecordBatch.EXIT, time, depth - 1, top[0], top[1], Stream.slot(depth - 1), fp);
      }
    }
    state.apply(
        ChunkMeta.running(0, 0, batch.time[0], time, ClockUnit.INSTRUCTIONS),
        new CoreKey("s", core),
        image.id(),
        batch);
  }

  /** What a row is about, as this test sees it. */
  private static String key(GraphState state, String imageId, long pc, String name) {
    ImageInfo image = state.images().get(imageId);
    boolean named = image.symbols().size() > 0;
    boolean alone = !name.equals(TWICE) || image.symbols().size() == NAMES.size() + 1; // once in it
    return named && alone
        ? image.name().substring(0, 3) + " " + name
        : imageId + " " + Long.toHexString(pc);
  }

  @Test
  void aGroupIsTheSumOfItsRows() {
    long seed = Seeds.fresh();
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(seed + round);
      String of = "-Dretstack.seed=" + (seed + round);
      GraphState state = fleet(random);
      Report apart = ReportBuilder.of(state).build();
      Report grouped = apart.by(Grouping.GROUPS);
      assertThat(apart.by(Grouping.BY_IMAGE)).isEqualTo(apart);
      assertThat(grouped.resultHash()).isEqualTo(apart.resultHash());

      Map<String, List<FunctionRow>> expected = new TreeMap<>();
      for (FunctionRow row : apart.functions()) {
        assertThat(row.images()).isEqualTo(1);
        expected
            .computeIfAbsent(
                key(state, row.imageId(), row.selfPc(), row.name()), _ -> new ArrayList<>())
            .add(row);
      }
      assertThat(grouped.functions()).as(of).hasSize(expected.size());
      Set<String> seen = new HashSet<>();
      for (FunctionRow row : grouped.functions()) {
        String key =
            row.images() > 1
                ? row.program() + " " + row.name()
                : key(state, row.imageId(), row.selfPc(), row.name());
        assertThat(seen.add(key)).as(of).isTrue();
        List<FunctionRow> rows = expected.get(key);
        assertThat(rows).as(of + " " + key).isNotNull();
        same(of, rows, row, FunctionRow::calls);
        same(of, rows, row, FunctionRow::finished);
        same(of, rows, row, FunctionRow::total);
        same(of, rows, row, FunctionRow::sum);
        same(of, rows, row, FunctionRow::self);
        same(of, rows, row, FunctionRow::wall);
        assertThat(row.function().others())
            .as(of)
            .containsExactlyInAnyOrderElementsOf(
                rows.stream()
                    .flatMap(one -> one.function().others().stream())
                    .collect(Collectors.toSet()));
        assertThat(row.images()).as(of).isEqualTo(rows.size());
        assertThat(row.isas())
            .isEqualTo((int) rows.stream().map(FunctionRow::isa).distinct().count());
        assertThat(row.isa().isEmpty()).isEqualTo(row.isas() > 1);
        assertThat(row.max()).isEqualTo(rows.stream().mapToLong(FunctionRow::max).max().orElse(0));
        assertThat(row.min())
            .isEqualTo(
                rows.stream()
                    .filter(one -> one.finished() > 0)
                    .mapToLong(FunctionRow::min)
                    .min()
                    .orElse(0));
      }
      edges(of, state, apart.edges(), grouped.edges());

      List<FunctionRow> mixed = new ArrayList<>(apart.functions());
      Collections.shuffle(mixed, random);
      assertThat(FunctionRow.grouped(mixed).sorted(ProfileRows.FUNCTION_ORDER))
          .as(of)
          .isEqualTo(grouped.functions());
    }
  }

  /** In stacks, too, a function is found by each name that an image has for it. */
  @Test
  void callsAreFoundByEachNameOfTheirFunction() {
    long seed = Seeds.fresh();
    for (int round = 0; round < ROUNDS; round++) {
      String of = "-Dretstack.seed=" + (seed + round);
      GraphState state = fleet(new Random(seed + round));
      StackNode all =
          StackReport.of(
                  state.cores(),
                  new UnitGroups().choose(Optional.empty()),
                  TaskChoice.ALL,
                  StackNode.Apart.NONE,
                  true)
              .all();
      for (FunctionName function : all.functions()) {
        StackNode callees = all.callees(function.shown());
        StackNode callers = all.callers(function.shown());
        assertThat(callees.calls()).as(of).isPositive();
        for (String other : function.others()) {
          assertThat(all.callees(other).name()).as(of).isEqualTo(function.shown());
          assertThat(numbers(all.callees(other))).as(of).isEqualTo(numbers(callees));
          assertThat(numbers(all.callers(other))).as(of).isEqualTo(numbers(callers));
        }
      }
      assertThat(all.callees("nobody").calls()).as(of).isZero();
    }
  }

  private static List<List<Object>> numbers(StackNode all) {
    return all.inOrder().stream()
        .map(StackNode.Placed::node)
        .map(one -> List.<Object>of(one.name(), one.calls(), one.self(), one.total()))
        .toList();
  }

  private static void same(
      String of, List<FunctionRow> rows, FunctionRow sum, ToLongFunction<FunctionRow> number) {
    assertThat(number.applyAsLong(sum)).as(of).isEqualTo(rows.stream().mapToLong(number).sum());
  }

  private static void edges(
      String of, GraphState state, List<EdgeRow> apart, List<EdgeRow> grouped) {
    Map<String, Long> expected = new TreeMap<>();
    for (EdgeRow row : apart) {
      String caller = key(state, row.callerImageId(), row.callerPc(), row.caller());
      String callee = key(state, row.imageId(), row.calleePc(), row.callee());
      boolean known = !row.program().isEmpty() && !row.callerProgram().isEmpty();
      expected.merge(
          known ? caller + " > " + callee : row.imageId() + row.callerPc() + ">" + row.calleePc(),
          row.calls(),
          Long::sum);
    }
    assertThat(grouped).as(of).hasSize(expected.size());
    assertThat(grouped.stream().mapToLong(EdgeRow::calls).boxed().sorted())
        .as(of)
        .isEqualTo(expected.values().stream().sorted().toList());
    for (ToLongFunction<EdgeRow> number :
        List.<ToLongFunction<EdgeRow>>of(EdgeRow::calls, EdgeRow::total, EdgeRow::self)) {
      assertThat(grouped.stream().mapToLong(number).sum())
          .as(of)
          .isEqualTo(apart.stream().mapToLong(number).sum());
    }
  }

  @Test
  void anomaliesCountTheSameHoweverTheyAreShown() {
    long seed = Seeds.fresh();
    for (int round = 0; round < ROUNDS; round++) {
      String of = "-Dretstack.seed=" + (seed + round);
      GraphState state = fleet(new Random(seed + round));
      Map<AnomalyKind, List<Long>> apart = counts(state, Grouping.BY_IMAGE);
      assertThat(apart).as(of).containsKey(AnomalyKind.FRAME_POINTER_MISMATCH);
      for (Grouping rows : Grouping.values()) {
        assertThat(counts(state, rows)).as(of + " " + rows).isEqualTo(apart);
      }
      List<AnomalySum> grouped = anomalies(state, Grouping.GROUPS);
      assertThat(grouped.size()).isLessThanOrEqualTo(anomalies(state, Grouping.BY_IMAGE).size());
      assertThat(grouped.stream().mapToInt(AnomalySum::groups).sum())
          .as(of + ": each place of each image is in one group")
          .isEqualTo(anomalies(state, Grouping.BY_IMAGE).size());
      assertThat(grouped)
          .as(of)
          .allMatch(sum -> sum.images() <= sum.cores())
          .allMatch(sum -> sum.groups() == 1 || !sum.function().contains("+"));
    }
  }

  private static List<AnomalySum> anomalies(GraphState state, Grouping rows) {
    return ReportBuilder.of(state).anomalies(AnomalySum.Query.of(rows));
  }

  private static Map<AnomalyKind, List<Long>> counts(GraphState state, Grouping rows) {
    Map<AnomalyKind, List<Long>> counts = new TreeMap<>();
    for (AnomalySum sum : anomalies(state, rows)) {
      counts.merge(
          sum.kind(),
          List.of(sum.count(), sum.times(), sum.kept()),
          (a, b) -> List.of(a.get(0) + b.get(0), a.get(1) + b.get(1), a.get(2) + b.get(2)));
    }
    return counts;
  }
}
