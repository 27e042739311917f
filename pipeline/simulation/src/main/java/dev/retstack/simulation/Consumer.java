package dev.retstack.simulation;

import dev.retstack.graph.aggregate.GraphState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A pipeline member that owns one partition. State and next offset are snapshotted as one; the
 * offset committed to the log may lag behind the snapshot, never lead it. After a crash it reads
 * from the committed offset and skips what the snapshot already holds.
 */
final class Consumer {
  private final SimulatedLog log;
  private final int partition;
  private byte[] snapshot;
  private long committed;
  private long position;

  /** Next offset that the state has not seen. */
  private long next;

  private Subject subject;

  Consumer(SimulatedLog log, int partition) {
    this.log = log;
    this.partition = partition;
    this.subject = Subject.product();
    snapshot();
  }

  GraphState state() {
    return subject.state();
  }

  boolean atEnd() {
    return position >= log.end(partition);
  }

  /** Takes the record at its position. */
  void poll() {
    if (position >= next) {
      subject.apply(log.read(partition, position));
      next = position + 1;
    }
    position++;
  }

  void snapshot() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(next);
      subject.state().writeTo(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    snapshot = bytes.toByteArray();
  }

  /** Commits the offset of the last snapshot. */
  void commit() {
    committed = snapshotOffset();
  }

  /** Dies and comes back, here or on another node. */
  void crash() {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(snapshot))) {
      next = in.readLong();
      subject = Subject.of(GraphState.readFrom(in));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    position = committed;
  }

  private long snapshotOffset() {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(snapshot))) {
      return in.readLong();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
