package dev.retstack.service.checkpoint;

import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * What one partition writes, and where its state is kept. Derived records become visible together
 * with the checkpoint that contains their chunks, or not at all.
 *
 * <p>Every method may block; all are called from one thread. After any exception except a refused
 * commit, this ledger is unusable: the partition has to be opened again, from the last checkpoint.
 */
public interface Ledger extends AutoCloseable {
  /**
   * Takes the partition over: from now on every earlier owner's writes are refused. Then loads the
   * state of the last checkpoint and commits it under a higher epoch.
   */
  Checkpoint open() throws Exception;

  /** Gives up what was not committed, and loads the state of the last checkpoint again. */
  Checkpoint goBack() throws Exception;

  /**
   * The state that {@link #open} loaded is of no use. Where it may, it takes it away and begins the
   * partition anew; all is rebuilt from its records.
   *
   * @return where it begins; empty where it may not, and what is there stays
   */
  Optional<Checkpoint> repair() throws Exception;

  /**
   * Reads records of the partition again.
   *
   * @param offsets ascending
   */
  Found read(long[] offsets) throws Exception;

  /**
   * Records that were read again.
   *
   * @param records in order; as many as memory allows
   * @param end those below it were looked for; what is not among the records is there no more
   */
  record Found(List<ConsumerRecord<byte[], byte[]>> records, long end) {}

  /** Writes derived records; readers see them after the next {@link #commit}. */
  void publish(List<ProducerRecord<byte[], byte[]>> records) throws Exception;

  /**
   * Makes the checkpoint, which has what changed since the last one, and everything published
   * before it visible as one unit.
   *
   * @return bytes of the checkpoint as it was sent, keys and headers included
   * @throws CommitFailedException where the group moved meanwhile, or shut the member out; nothing
   *     was written, and what is published is given up until {@link #goBack}
   */
  long commit(Checkpoint checkpoint) throws Exception;

  /** Gives up what was not committed. */
  @Override
  void close();
}
