package dev.retstack.service.query;

import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.question.HitsQuestion;
import dev.retstack.answers.question.QuerySource;
import dev.retstack.answers.question.View;
import dev.retstack.answers.question.WindowQuestion;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.view.AboutView;
import java.util.concurrent.CompletionStage;

/**
 * A running job: the states of its partitions, and its log for windows.
 *
 * @param name of its consumer group
 * @param control whether it answers about commands
 */
record JobSource(String name, Job job, Windows windows, boolean control) implements QuerySource {
  @Override
  public Document about() {
    return AboutView.job(name, control);
  }

  @Override
  public HeapRoom room() {
    return job.room();
  }

  @Override
  public CompletionStage<View> view(HeapRoom.Share share) {
    return job.view(share);
  }

  @Override
  public CompletionStage<QuerySource.Cores> cores(HeapRoom.Share share) {
    return job.cores(share);
  }

  @Override
  public CompletionStage<QuerySource.Totals> totals(HeapRoom.Share share) {
    return job.totals(share);
  }

  @Override
  public CompletionStage<QuerySource.Seen> window(
      WindowQuestion question, boolean counts, HeapRoom.Share share) {
    return windows.view(question, counts, share);
  }

  /**
   * Answers for all cores from the call trees of the states, because their log is too long to read.
   */
  @Override
  public CompletionStage<QuerySource.Seen> stacks(WindowQuestion question, HeapRoom.Share share) {
    return question.isAll()
        ? view(share)
            .thenApply(view -> new QuerySource.Seen(view, new QuerySource.Cost(0, 0, 0, 0, 0)))
        : windows.stacks(question, share);
  }

  @Override
  public CompletionStage<QuerySource.Searched> hits(HitsQuestion question, HeapRoom.Share share) {
    return windows.hits(question, share);
  }

  @Override
  public CompletionStage<QuerySource.Traced> trace(WindowQuestion question, HeapRoom.Share share) {
    return windows.trace(question, share);
  }

  @Override
  public CompletionStage<QuerySource.Drawn> timeline(
      WindowQuestion question, TraceTimeline.Drawing drawing, HeapRoom.Share share) {
    return windows.timeline(question, drawing, share);
  }
}
