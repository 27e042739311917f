package dev.retstack.cli.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionState;

/** What the broker says of the transactions of partitions: what a kill fell into. */
final class Transactions implements AutoCloseable {
  private final Admin admin;
  private final Job job;

  /** Where in a partition's work a kill fell. */
  enum Hit {
    /** No transaction was open: chunks may have been applied, nothing of them was told. */
    BETWEEN,
    /** Findings of a batch were out and not committed. */
    BATCH,
    /** Parts of a checkpoint were out and not committed. */
    CHECKPOINT,
    /** The commit was on its way. */
    COMMIT
  }

  Transactions(Job job) {
    this.job = job;
    this.admin = Admin.create(Map.of("bootstrap.servers", job.brokers().bootstrap()));
  }

  /** What the broker holds of each of these partitions; nothing of one that never wrote. */
  List<Hit> of(List<Integer> partitions) throws Exception {
    List<String> ids = partitions.stream().map(this::id).toList();
    List<Hit> hits = new ArrayList<>();
    for (TransactionDescription found :
        admin.describeTransactions(ids).all().get(20, TimeUnit.SECONDS).values()) {
      hits.add(hit(found));
    }
    return hits;
  }

  private Hit hit(TransactionDescription found) {
    TransactionState state = found.state();
    if (state == TransactionState.PREPARE_COMMIT) {
      return Hit.COMMIT;
    }
    if (state != TransactionState.ONGOING) {
      return Hit.BETWEEN;
    }
    String checkpoints = job.topics().state();
    boolean writes =
        found.topicPartitions().stream().anyMatch(one -> one.topic().equals(checkpoints));
    return writes ? Hit.CHECKPOINT : Hit.BATCH;
  }

  private String id(int partition) {
    return job.group() + "-" + job.topics().events() + "-" + partition;
  }

  @Override
  public void close() {
    admin.close();
  }
}
