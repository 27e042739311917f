package dev.retstack.service.query;

import dev.retstack.service.http.HeapRoom;
import dev.retstack.service.replay.TraceTimeline;
import dev.retstack.service.search.HitsQuestion;
import dev.retstack.service.table.Document;
import dev.retstack.service.window.WindowQuestion;
import java.util.concurrent.CompletionStage;

/**
 * What questions are about: a running job, or a recorded trace. Each question has a share of {@link
 * #room} that it holds until it is answered. Safe for use by several threads.
 */
public interface QuerySource {
  /** What it is, for pages: a job or a trace, its name, and how far it was read. */
  Document about();

  /** What all questions hold. */
  HeapRoom room();

  /** All that is known, merged. */
  CompletionStage<View> view(HeapRoom.Share share);

  /** How far each core came. */
  CompletionStage<Job.Cores> cores(HeapRoom.Share share);

  /** What all adds up to. */
  CompletionStage<Job.Totals> totals(HeapRoom.Share share);

  /**
   * A time of some cores.
   *
   * @param counts whether only what is in the window counts; where not, calls are whole
   */
  CompletionStage<Windows.Seen> window(
      WindowQuestion question, boolean counts, HeapRoom.Share share);

  /** A time of some cores, or all, whose calls add up by their stacks. */
  CompletionStage<Windows.Seen> stacks(WindowQuestion question, HeapRoom.Share share);

  /** Where calls of some functions are. */
  CompletionStage<Windows.Searched> hits(HitsQuestion question, HeapRoom.Share share);

  /** A time of some cores as a recorded trace. */
  CompletionStage<Windows.Traced> trace(WindowQuestion question, HeapRoom.Share share);

  /**
   * What some cores did when.
   *
   * @param drawing how fine
   */
  CompletionStage<Windows.Drawn> timeline(
      WindowQuestion question, TraceTimeline.Drawing drawing, HeapRoom.Share share);
}
