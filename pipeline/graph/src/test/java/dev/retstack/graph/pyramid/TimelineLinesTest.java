package dev.retstack.graph.pyramid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.graph.Stream;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Lines of a timeline beside those of calls: what ordinary programs do, and what is wrong. */
class TimelineLinesTest {
  private final Pyramid pyramid = new Pyramid(new Pyramid.Room(1 << 12));
  private final Stream stream = new Stream(new GraphState(GraphLimits.DEFAULT));

  TimelineLinesTest() {
    stream.state().events(new Placing(pyramid));
  }

  private record Placing(Pyramid into) implements GraphEvents {
    @Override
    public Pyramid pyramid(CoreGraph core) {
      return into;
    }

    @Override
    public long threshold() {
      return Long.MAX_VALUE;
    }

    @Override
    public void finished(FinishedCall call) {}

    @Override
    public void anomaly(CoreGraph core, Anomaly anomaly) {}
  }

  @Test
  void eachTaskHasTheTimesInWhichItWasSwitchedOut() throws IOException {
    stream
        .enter(10, 0, Stream.MAIN, 0x900)
        .started(20, 7)
        .enter(30, 0, Stream.B, 0x900)
        .exit(40, 0, Stream.B, 0x900)
        .switched(50, 0, 1)
        .exit(80, 0, Stream.MAIN, 0x900)
        .end(80);
    assertThat(rows(Line.Kind.AWAY))
        .extracting(row -> row.line().task(), Timeline.Row::enter, Timeline.Row::exit)
        .containsExactly(tuple(0L, 20L, 50L), tuple(7L, 50L, 80L));
    assertThat(rows(Line.Kind.EVENTS)).isEmpty();
    assertThat(rows(Line.Kind.ANOMALIES)).isEmpty();
  }

  @Test
  void anExceptionIsAnEventAndAWrongFramePointerAnAnomaly() throws IOException {
    stream
        .enter(10, 0, Stream.MAIN, 0x900)
        .enter(20, 1, Stream.A, Stream.returnTo(Stream.MAIN))
        .enter(22, 2, Stream.C, Stream.returnTo(Stream.A))
        .enter(30, 1, Stream.B, Stream.returnTo(Stream.MAIN))
        .exit(40, 1, Stream.B, Stream.returnTo(Stream.MAIN), Stream.slot(1), 0x4141)
        .exit(50, 0, Stream.MAIN, 0x900)
        .end(50);
    assertThat(rows(Line.Kind.EVENTS))
        .extracting(Timeline.Row::calls, Timeline.Row::selfPc, Timeline.Row::enter)
        .containsExactly(tuple(1L, Stream.C, 30L));
    assertThat(rows(Line.Kind.ANOMALIES))
        .extracting(Timeline.Row::calls, Timeline.Row::enter)
        .containsExactly(tuple(1L, 40L));
    assertThat(rows(Line.Kind.AWAY)).isEmpty();
  }

  private List<Timeline.Row> rows(Line.Kind kind) throws IOException {
    return Timeline.of(pyramid.tiles(), new Timeline.Question(0, 127, 128, 3)).rows().stream()
        .filter(row -> row.line().kind() == kind)
        .toList();
  }
}
