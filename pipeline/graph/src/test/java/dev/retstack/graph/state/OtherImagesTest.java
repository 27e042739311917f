package dev.retstack.graph.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.graph.Stream;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.symbol.SymbolTable.Symbol;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Cores that map other images: what their functions are called, and where they stand. */
class OtherImagesTest {
  private static final List<String> LIBS = List.of("cafe0001", "cafe0002");

  /** Where images are mapped. */
  private static final long HERE = 0x7000_0000_0000L;

  private static final long THERE = 0x7100_0000_0000L;
  private static final long BYTES = 0x2000;

  private static ImageInfo lib(String id, String name, String function) {
    return new ImageInfo(
        id,
        name,
        "x86_64",
        new ImageTraits(true, true, Stream.HANDLER, Stream.HANDLER + 256 * 16),
        SymbolTable.of(List.of(new Symbol(function, 0x1100, 0x100))));
  }

  private static GraphState state() {
    GraphState state = new GraphState();
    state.image(lib(LIBS.get(0), "libone.so", "one"));
    state.image(lib(LIBS.get(1), "libtwo.so", "two"));
    return state;
  }

  /** {@code main} calls the function at 0x1104 of the image that stands there. */
  private static Stream call(Stream stream, long at, long base) {
    long from = Stream.returnTo(Stream.MAIN);
    return stream.enter(at, 1, base + 0x104, from).exit(at + 5, 1, base + 0x104, from);
  }

  private static GraphState called(GraphState state) {
    Stream stream = new Stream(state).images(LIBS).enter(10, 0, Stream.MAIN, 0x500);
    call(stream.map(20, 0, HERE, BYTES, 0x1000), 30, HERE);
    call(stream.unmap(40, HERE, BYTES).map(41, 1, HERE, BYTES, 0x1000), 50, HERE);
    call(stream.map(60, 0, THERE, BYTES, 0x1000), 70, THERE);
    stream.end(100);
    return state;
  }

  @Test
  void aFunctionIsItsImageAndTheAddressThere() throws IOException {
    GraphState state = called(state());
    for (GraphState read : List.of(state, copy(state))) {
      Report report = ReportBuilder.of(read).build();
      assertThat(report.functions())
          .extracting(
              FunctionRow::name,
              FunctionRow::imageId,
              FunctionRow::image,
              FunctionRow::address,
              FunctionRow::selfPc,
              FunctionRow::calls,
              FunctionRow::self)
          .contains(
              tuple("one", "cafe0001", "libone.so", 0x1100L, 0x1104L, 2L, 10L),
              tuple("two", "cafe0002", "libtwo.so", 0x1100L, 0x1104L, 1L, 5L));
      assertThat(report.edges())
          .extracting(EdgeRow::caller, EdgeRow::callee, EdgeRow::callerImageId, EdgeRow::imageId)
          .contains(
              tuple("main", "one", Stream.IMAGE_ID, "cafe0001"),
              tuple("main", "two", Stream.IMAGE_ID, "cafe0002"));
      CallNode main = ReportBuilder.of(read).trees().getFirst().roots().getFirst();
      assertThat(main.children())
          .extracting(CallNode::function, CallNode::selfPc)
          .containsExactly(tuple("one", 0x1104L), tuple("two", 0x1104L), tuple("one", 0x1104L));
      assertThat(report.stats()).noneMatch(row -> row.name().contains("MAP"));
    }
  }

  @Test
  void whereAnImageStoodAndHowChunksAreCutChangesNothing() {
    GraphState whole = called(state());
    GraphState other = state();
    Stream stream = new Stream(other).images(LIBS).enter(10, 0, Stream.MAIN, 0x500).send();
    call(stream.images(LIBS).map(20, 0, THERE, BYTES, 0x1000).send(), 30, THERE);
    call(stream.send().images(LIBS).map(40, 1, HERE, BYTES, 0x1000).send(), 50, HERE);
    call(stream.unmap(60, 0x1_0000, 0x100).unmap(61, 0x2_0000, 0x100), 70, THERE);
    stream.end(100);
    assertThat(ReportBuilder.of(other).build().functions())
        .isEqualTo(ReportBuilder.of(whole).build().functions());
    assertThat(ReportBuilder.of(other).build().edges())
        .isEqualTo(ReportBuilder.of(whole).build().edges());
    assertThat(ReportBuilder.of(whole).add(other).build().functions())
        .filteredOn(row -> row.name().equals("one"))
        .extracting(FunctionRow::calls)
        .containsExactly(4L);
  }

  @Test
  void anImageOfWhichNothingIsKnownIsNamedByItsBuildId() {
    GraphState state = called(new GraphState());
    assertThat(ReportBuilder.of(state).build().functions())
        .extracting(FunctionRow::name)
        .contains("cafe0001+0x1104", "cafe0002+0x1104");
    assertThat(state.cores().iterator().next().stats().get(Stat.IMAGES_UNKNOWN)).isEqualTo(3);
    state.image(lib(LIBS.getFirst(), "libone.so", "one")); // it came after all
    assertThat(ReportBuilder.of(state).build().functions())
        .extracting(FunctionRow::name)
        .contains("one", "cafe0002+0x1104");
  }

  @Test
  void aKeyframeTellsWhatIsMappedBehindALoss() {
    GraphState state = state();
    Stream stream = new Stream(state).enter(10, 0, Stream.MAIN, 0x500).send();
    call(stream.images(LIBS).map(20, 0, HERE, BYTES, 0x1000), 30, HERE).skip();
    stream.images(LIBS).opens(inForce(Stream.open(10, 0, Stream.MAIN, 0x500), HERE, 0));
    call(stream, 50, HERE).end(100);
    assertThat(ReportBuilder.of(state).build().functions())
        .filteredOn(row -> row.name().equals("one"))
        .extracting(FunctionRow::imageId, FunctionRow::calls)
        .containsExactly(tuple("cafe0001", 1L));
  }

  @Test
  void aKeyframeWithOtherMappingsIsCountedAndNotBelieved() {
    GraphState state = state();
    Stream stream = new Stream(state).images(LIBS).enter(10, 0, Stream.MAIN, 0x500);
    stream.map(20, 0, HERE, BYTES, 0x1000).send();
    stream.images(LIBS).opens(inForce(Stream.open(10, 0, Stream.MAIN, 0x500), HERE, 1));
    call(stream, 50, HERE).end(100);
    assertThat(state.cores().iterator().next().stats().get(Stat.MAPS_DISAGREE)).isEqualTo(1);
    assertThat(ReportBuilder.of(state).build().functions())
        .extracting(FunctionRow::name)
        .contains("one")
        .doesNotContain("two");
  }

  @Test
  void aMappingOverAnotherReplacesItAndIsCounted() {
    GraphState state = state();
    Stream stream = new Stream(state).images(LIBS).enter(10, 0, Stream.MAIN, 0x500);
    stream.map(20, 0, HERE, BYTES, 0x1000).map(21, 1, HERE + 0x100, 0x100, 0x1100);
    call(stream, 30, HERE).end(100);
    assertThat(state.cores().iterator().next().stats().get(Stat.MAPS_OVERLAP)).isEqualTo(1);
    assertThat(ReportBuilder.of(state).build().functions())
        .extracting(FunctionRow::name)
        .contains("two");
  }

  private static Keyframe.Builder inForce(Keyframe.Builder to, long at, int image) {
    RecordBatch maps = new RecordBatch(1);
    maps.add(RecordBatch.MAP, 0, image, at, BYTES, 0x1000, 5);
    to.maps(maps);
    return to;
  }

  private static GraphState copy(GraphState state) throws IOException {
    return GraphState.ofCopy(state.copy(), GraphLimits.DEFAULT, StateBudget.UNLIMITED);
  }
}
