package dev.retstack.service.reconstruct;

import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.snapshot.StateVersions;

/** Which versions of state a member reads, and in which it writes. Safe for use by all threads. */
public interface VersionRule {
  /** A member alone. */
  VersionRule ALONE =
      new VersionRule() {
        @Override
        public StateVersions reads() {
          return GraphState.VERSIONS;
        }

        @Override
        public int toWrite(int current) {
          return reads().newest();
        }

        @Override
        public String holdingBack() {
          return "";
        }
      };

  /** What this member reads. */
  StateVersions reads();

  /**
   * The version to write now, which other members can take over.
   *
   * @param current what was written last
   */
  int toWrite(int current);

  /** Members for whose sake an older version is written, for people. */
  String holdingBack();
}
