package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.TopicReader;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A partition takes the cores that it may have; of others nothing is lost in silence. */
class CoreLimitTest {
  private final LiveBench bench = LiveBench.fresh();

  @Test
  void whatIsBeyondIsInDeadLettersAndCounted() throws Exception {
    GraphLimits one = GraphLimits.DEFAULT.but().treeCallsPerCore(100).cores(1).build();
    bench.produceAll();
    try (Pipeline pipeline = PipelineService.start(bench.config().but().limits(one).build())) {
      Scraped page = bench.awaitRest(pipeline);
      double refused = page.sum("retstack_chunks_total", "outcome", "refused");
      double applied = page.sum("retstack_chunks_total", "outcome", "applied");
      long chunks = bench.fleet().stream().mapToLong(core -> core.chunks().size()).sum();
      assertThat(page.sum("retstack_cores_max")).isEqualTo(LiveBench.PARTITIONS);
      assertThat(page.sum("retstack_cores")).isBetween(1.0, (double) LiveBench.PARTITIONS);
      assertThat(refused).isPositive();
      assertThat(applied + refused).isEqualTo((double) chunks);

      List<byte[]> letters = TopicReader.values(bench.kafka(), bench.topics().deadLetters());
      assertThat(letters).hasSize((int) refused);
      for (byte[] letter : letters) {
        assertThat(ConfluentFrame.decode(letter, DeadLetter.class).getReason())
            .contains("holds 1 core, no more are allowed", "--cores-per-partition");
      }
    }
  }
}
