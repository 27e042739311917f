package dev.retstack.graph;

import static dev.retstack.graph.Stream.A;
import static dev.retstack.graph.Stream.B;
import static dev.retstack.graph.Stream.MAIN;
import static dev.retstack.graph.Stream.returnTo;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.tree.Ending;
import org.junit.jupiter.api.Test;

/** The plain cases, by hand: what calls add up to and how the tree looks. */
class GraphStateTest {

  @Test
  void callsAddUp() {
    Stream s =
        new Stream()
            .enter(10, 0, MAIN, 0x900)
            .enter(20, 1, A, returnTo(MAIN))
            .enter(30, 2, B, returnTo(A))
            .exit(35, 2, B, returnTo(A))
            .exit(50, 1, A, returnTo(MAIN))
            .send()
            .enter(60, 1, B, returnTo(MAIN))
            .exit(61, 1, B, returnTo(MAIN))
            .exit(100, 0, MAIN, 0x900)
            .end(110);
    Report report = ReportBuilder.of(s.state()).build();
    assertThat(report.functions().stream().map(GraphStateTest::line))
        .containsExactly(
            "main 0x1000 calls 1 total 90 self 59 min 90 max 90 avg 90.0",
            "a 0x1100 calls 1 total 30 self 25 min 30 max 30 avg 30.0",
            "b 0x1200 calls 2 total 6 self 6 min 1 max 5 avg 3.0");
    assertThat(report.edges().stream().map(GraphStateTest::line))
        .containsExactly("main>a 1 30", "a>b 1 5", "main>b 1 1");
    assertThat(report.stats()).isEmpty();
    assertThat(report.records()).isEqualTo(8);
    assertThat(report.completeness()).isEqualTo(100);
    assertThat(report.resultHash())
        .isEqualTo("1833531cbf35636765ee98c709a9335c1907e07b6f6277803e798a2cbae624d0");
  }

  @Test
  void recursionCountsOnceInTotal() {
    Stream s =
        new Stream()
            .enter(0, 0, A, 0x900)
            .enter(10, 1, A, returnTo(A))
            .enter(20, 2, A, returnTo(A))
            .exit(30, 2, A, returnTo(A))
            .exit(40, 1, A, returnTo(A))
            .exit(50, 0, A, 0x900)
            .end(50);
    Report report = ReportBuilder.of(s.state()).build();
    FunctionRow a = report.functions().get(0);
    assertThat(line(a)).isEqualTo("a 0x1100 calls 3 total 50 self 50 min 10 max 50 avg 30.0");
    assertThat(line(report.edges().get(0))).isEqualTo("a>a 2 30");
  }

  @Test
  void afterATailCallTheNewFunctionIsASibling() {
    Stream s =
        new Stream()
            .enter(0, 0, MAIN, 0x900)
            .enter(10, 1, A, returnTo(MAIN))
            .tailEnter(15, 2, B)
            .exit(25, 2, B, Stream.HANDLER + 16)
            .exit(25, 1, A, returnTo(MAIN))
            .exit(30, 0, MAIN, 0x900)
            .end(30);
    CallTree tree = ReportBuilder.of(s.state()).trees().get(0);
    CallNode main = tree.roots().get(0);
    assertThat(main.children()).hasSize(2);
    assertThat(main.children().get(0)).hasToString("a 10..15 TAIL_CALLED (0 below)");
    assertThat(main.children().get(1)).hasToString("b 15..25 RETURNED (0 below)");
    assertThat(ReportBuilder.of(s.state()).build().edges().stream().map(GraphStateTest::line))
        .containsExactly("a>b 1 10", "main>a 1 5");
    assertThat(main.ending()).isEqualTo(Ending.RETURNED);
    assertThat(ReportBuilder.of(s.state()).build().functions().get(0).self()).isEqualTo(15);
  }

  static String line(FunctionRow f) {
    return "%s 0x%x calls %d total %d self %d min %d max %d avg %s"
        .formatted(
            f.name(), f.address(), f.calls(), f.total(), f.self(), f.min(), f.max(), f.avg());
  }

  static String line(EdgeRow e) {
    return "%s>%s %d %d".formatted(e.caller(), e.callee(), e.calls(), e.total());
  }
}
