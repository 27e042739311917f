package dev.retstack.answers.state;

import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.schema.record.EndDetail;
import java.util.OptionalInt;

/**
 * How far one core came.
 *
 * @param partition partition of events its chunks are in
 * @param isa as in Image
 * @param image build-id of its image
 * @param imageName its file name, for people
 * @param chunks chunks it is known to have sent
 * @param keyframes chunks where its calls were compared with those that the core had open
 * @param records records received
 * @param lost records known to be lost
 * @param untraced calls known to have made no records
 * @param anomalies found
 * @param open calls that have not ended, of all its tasks
 * @param time its clock, in the unit of its chunks
 * @param end RUNNING, or why it ended
 * @param endDetail how it ended, in words; empty while it runs
 * @param deadSince when its fleet was heard last, where that is gone and the core has not ended:
 *     milliseconds since 1970-01-01 UTC by the broker's clock, else 0
 */
public record CoreProgress(
    CoreKey key,
    int partition,
    String isa,
    String image,
    String imageName,
    long chunks,
    long keyframes,
    long records,
    long lost,
    long untraced,
    long anomalies,
    int open,
    long time,
    CoreEnd end,
    String endDetail,
    long deadSince) {
  /** What is shown of a core that has not ended and whose fleet is gone. */
  public static final String DEAD = "DEAD";

  /** A core whose fleet is not known to be gone. */
  public CoreProgress(
      CoreKey key,
      int partition,
      String isa,
      String image,
      String imageName,
      long chunks,
      long keyframes,
      long records,
      long lost,
      long untraced,
      long anomalies,
      int open,
      long time,
      CoreEnd end,
      String endDetail) {
    this(
        key, partition, isa, image, imageName, chunks, keyframes, records, lost, untraced,
        anomalies, open, time, end, endDetail, 0);
  }

  /** How far this core of a partition came. */
  public static CoreProgress of(int partition, CoreSummary core) {
    return new CoreProgress(
        core.key(),
        partition,
        core.image().isa(),
        core.image().id(),
        core.image().name(),
        core.nextSequence(),
        core.keyframes(),
        core.records(),
        core.lost(),
        core.stats().untraced(),
        core.anomalies(),
        core.open(),
        core.time(),
        core.end(),
        core.endDetail());
  }

  /**
   * This progress with what is known of the core's fleet.
   *
   * @param nextOffset first offset of its partition that is not in the state
   */
  public CoreProgress with(Deaths deaths, long nextOffset) {
    long since = ended() ? 0 : deaths.since(key.session(), partition, nextOffset).orElse(0);
    return since == deadSince
        ? this
        : new CoreProgress(
            key, partition, isa, image, imageName, chunks, keyframes, records, lost, untraced,
            anomalies, open, time, end, endDetail, since);
  }

  /** Whether it has not ended and will not, unless its fleet comes back. */
  public boolean isDead() {
    return deadSince != 0;
  }

  /** What a shell would call the program's exit code; empty where it has none, or runs. */
  public OptionalInt exitCode() {
    return EndDetail.exitCode(endDetail);
  }

  /** RUNNING, DEAD, or why it ended. */
  public String state() {
    return isDead() ? DEAD : end.name();
  }

  /** Whether the last chunk of the core was seen. */
  public boolean ended() {
    return end != CoreEnd.RUNNING;
  }
}
