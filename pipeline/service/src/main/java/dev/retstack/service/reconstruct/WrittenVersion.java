package dev.retstack.service.reconstruct;

import dev.retstack.graph.snapshot.SnapshotReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The version in which a partition's state is written, and when that changes. */
final class WrittenVersion {
  private static final Logger log = LoggerFactory.getLogger(PartitionGraph.class);

  private final int partition;
  private final VersionRule rule;
  private int version;

  /** The newest, as long as no checkpoint was found. */
  WrittenVersion(int partition, VersionRule rule) {
    this.partition = partition;
    this.rule = rule;
    this.version = rule.reads().newest();
  }

  /** The partition goes on from this checkpoint. */
  void opened(Checkpoint found) {
    if (found.state().length() > 0) {
      version = SnapshotReader.versionOf(found.state().joined());
    }
  }

  /** The version of the last checkpoint. */
  int last() {
    return version;
  }

  /** Whether the last checkpoint is not in the version that it should be in. */
  boolean isOutdated() {
    return rule.toWrite(version) != version;
  }

  /** The version of the next checkpoint: members that join must be able to read it. */
  int next() {
    int wanted = rule.toWrite(version);
    if (wanted != version) {
      log.info(
          "partition {} is written in state version {} now, not {}: {}",
          partition,
          wanted,
          version,
          wanted < version
              ? rule.holdingBack() + "; what only the newer one holds is given up"
              : "all members read it");
      version = wanted;
    }
    return version;
  }
}
