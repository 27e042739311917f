package dev.retstack.answers.question;

import dev.retstack.answers.history.History;
import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.answers.search.CallSearch;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.view.Coverage;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.RefusedCores;
import dev.retstack.graph.top.CoreSum;
import dev.retstack.graph.top.TopBuilder;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * What questions are about: a running job, or a recorded trace. Each question has a share of {@link
 * #room} that it holds until it is answered. Safe for use by several threads.
 */
public interface QuerySource {
  /**
   * How far the cores of all partitions came.
   *
   * @param forgotten cores that are no longer among them
   * @param refused cores that never were, since there was no room for them
   */
  record Cores(
      List<CoreProgress> cores,
      ForgottenSessions forgotten,
      List<RefusedCores.Row> refused,
      Coverage coverage) {
    public Cores {
      cores = List.copyOf(cores);
      refused = List.copyOf(refused);
    }
  }

  /**
   * What the partitions add up to.
   *
   * @param totals of those that are there
   * @param states whether a core runs, is dead, or how it ended
   */
  record Totals(TopBuilder totals, Function<CoreSum, String> states, Coverage coverage) {}

  /**
   * How fast the job worked lately.
   *
   * @param members that reported their past
   * @param missing which did not, and why
   */
  record Past(List<History.Slot> slots, int members, List<String> missing) {
    public Past {
      slots = List.copyOf(slots);
      missing = List.copyOf(missing);
    }
  }

  /** What reading from the log took. */
  record Cost(int cores, long chunks, long records, long fetchedBytes, long millis) {
    /** Of a header. */
    String header() {
      return "cores=%d; chunks=%d; records=%d; fetched=%d; ms=%d"
          .formatted(cores, chunks, records, fetchedBytes, millis);
    }
  }

  /** A window, ready for the views. */
  record Seen(View view, Cost cost) {}

  /** A window as a recorded trace. */
  @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
  record Traced(byte[] trace, Coverage coverage, Cost cost) {}

  /** What a search found. */
  record Searched(CallSearch.Found found, Coverage coverage, Cost cost) {}

  /** What cores did in a window. */
  record Drawn(List<TraceTimeline.Answer> cores, Coverage coverage, Cost cost) {}

  /** What it is, for pages: a job or a trace, its name, and how far it was read. */
  Document about();

  /** What all questions hold. */
  HeapRoom room();

  /** All that is known, merged. */
  CompletionStage<View> view(HeapRoom.Share share);

  /** How far each core came. */
  CompletionStage<Cores> cores(HeapRoom.Share share);

  /** What all adds up to. */
  CompletionStage<Totals> totals(HeapRoom.Share share);

  /**
   * A time of some cores.
   *
   * @param counts whether only what is in the window counts; where not, calls are whole
   */
  CompletionStage<Seen> window(WindowQuestion question, boolean counts, HeapRoom.Share share);

  /** A time of some cores, or all, whose calls add up by their stacks. */
  CompletionStage<Seen> stacks(WindowQuestion question, HeapRoom.Share share);

  /** Where calls of some functions are. */
  CompletionStage<Searched> hits(HitsQuestion question, HeapRoom.Share share);

  /** A time of some cores as a recorded trace. */
  CompletionStage<Traced> trace(WindowQuestion question, HeapRoom.Share share);

  /**
   * What some cores did when.
   *
   * @param drawing how fine
   */
  CompletionStage<Drawn> timeline(
      WindowQuestion question, TraceTimeline.Drawing drawing, HeapRoom.Share share);
}
