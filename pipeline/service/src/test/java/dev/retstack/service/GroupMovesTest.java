package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Protocols;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.Waits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Members come, leave and die in mid-stream, under each group protocol: the fewest partitions move,
 * those that stay are not opened again, those that move are opened once, and the result is that of
 * a replay.
 */
class GroupMovesTest {
  private static final int PARTITIONS = 6;
  private static final Duration WAIT = Duration.ofSeconds(90);
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Who owns a partition, and how often it was taken over. */
  private record Owner(int member, long epoch) {}

  @ParameterizedTest
  @MethodSource(Protocols.SOME)
  void theFewestPartitionsMove(GroupProtocol protocol) throws Exception {
    LiveBench bench = LiveBench.fresh(PARTITIONS, 12, protocol);
    List<Pipeline> members = new ArrayList<>();
    try {
      bench.produce(0, 0.2);
      members.add(PipelineService.start(bench.config()));
      Map<Integer, Owner> one = settled(bench, members);
      bench.produce(0.2, 0.4);
      members.add(PipelineService.start(bench.config()));
      Map<Integer, Owner> two = settled(bench, members);
      moved(protocol + ": a second member joins", one, two, 3);
      bench.produce(0.4, 0.6);
      members.add(PipelineService.start(bench.config()));
      Map<Integer, Owner> three = settled(bench, members);
      moved(protocol + ": a third member joins", two, three, 2);
      bench.produce(0.6, 0.7);
      members.get(1).close();
      members.set(1, null);
      Map<Integer, Owner> left = settled(bench, members);
      moved(protocol + ": a member leaves", three, left, 2);
      bench.produce(0.7, 0.9);
      members.get(0).abort().toCompletableFuture().get();
      members.set(0, null);
      Map<Integer, Owner> last = settled(bench, members);
      moved(protocol + ": a member dies", left, last, 3);
      bench.produce(0.9, 1);
      Pipeline owner = members.get(2);
      bench.awaitEnded(owner);
      try (HttpAsk ask = new HttpAsk(owner.httpUri())) {
        JsonNode report = JSON.readTree(ask.get("/report").body());
        assertThat(report.path("resultHash").asText())
            .isEqualTo(ReportBuilder.of(States.of(bench.fleet())).build().resultHash());
      }
    } finally {
      members.stream().filter(member -> member != null).forEach(Pipeline::close);
    }
  }

  /** So many partitions have another owner, and were taken over once; nothing else happened. */
  private static void moved(
      String what, Map<Integer, Owner> before, Map<Integer, Owner> after, int fewest) {
    int moved = 0;
    for (int p = 0; p < PARTITIONS; p++) {
      boolean stayed = before.get(p).member() == after.get(p).member();
      moved += stayed ? 0 : 1;
      assertThat(after.get(p).epoch() - before.get(p).epoch())
          .as("%s: times that partition %s was opened; %s to %s", what, p, before, after)
          .isEqualTo(stayed ? 0 : 1);
    }
    System.out.printf("%s: %d of %d partitions moved%n", what, moved, PARTITIONS);
    assertThat(moved).as(what).isEqualTo(fewest);
  }

  /** Waits until the members share all partitions as evenly as can be, and says who has which. */
  private static Map<Integer, Owner> settled(LiveBench bench, List<Pipeline> members)
      throws Exception {
    long live = members.stream().filter(member -> member != null).count();
    long began = System.nanoTime();
    while (true) {
      Map<Integer, Owner> owners = new TreeMap<>();
      List<Integer> shares = new ArrayList<>();
      int all = 0;
      for (int m = 0; m < members.size(); m++) {
        if (members.get(m) != null) {
          Scraped page = bench.scrape(members.get(m));
          Map<Integer, Long> epochs = epochs(page);
          assertThat(page.sum("retstack_partition_failures_total"))
              .as("a partition that moves is handed over, nobody is shut out")
              .isZero();
          for (Map.Entry<Integer, Long> part : epochs.entrySet()) {
            owners.put(part.getKey(), new Owner(m, part.getValue()));
          }
          shares.add(epochs.size());
          all += epochs.size();
        }
      }
      boolean even = Collections.max(shares) - Collections.min(shares) <= 1;
      if (all == PARTITIONS && owners.size() == PARTITIONS && even && shares.size() == live) {
        return owners;
      }
      Waits.pause(began, WAIT, owners);
    }
  }

  private static Map<Integer, Long> epochs(Scraped page) {
    Map<Integer, Long> epochs = new TreeMap<>();
    for (int p = 0; p < PARTITIONS; p++) {
      String label = String.valueOf(p);
      if (page.sum("retstack_partition_open", "partition", label) == 1) {
        epochs.put(p, (long) page.sum("retstack_partition_epoch", "partition", label));
      }
    }
    return epochs;
  }
}
