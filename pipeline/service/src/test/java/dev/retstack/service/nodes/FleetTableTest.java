package dev.retstack.service.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.state.Deaths;
import dev.retstack.schema.Fleet;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which sessions have lost their fleets, by what the topic says and the broker's time. */
class FleetTableTest {
  private static final long HOUR = 3_600_000;
  private final FleetTable table = new FleetTable();

  private void heard(String session, String fleet, long millis) {
    table.update(
        session + "/" + fleet,
        Fleet.newBuilder().setSession(session).setFleet(fleet).build(),
        millis);
  }

  private void left(String session, String fleet, long millis) {
    table.update(session + "/" + fleet, null, millis);
  }

  /** Time goes on, as members have it go on where no fleet says anything. */
  private void ticks(long from, long to) {
    for (long millis = from; millis <= to; millis += FleetTable.INTERVAL_MILLIS) {
      table.update(FleetTable.TICK, null, millis);
    }
  }

  @Test
  void aFleetThatIsSilentWhileTimeGoesOnIsGoneSinceItsLastWord() {
    heard("s", "a", 10_000);
    ticks(12_000, 25_000);
    assertThat(table.gone()).isEmpty();
    assertThat(table.isAnyInQuestion()).isTrue();
    ticks(25_001, 28_000);
    assertThat(table.gone()).isEqualTo(Map.of("s", 10_000L));
    assertThat(table.isAnyInQuestion()).as("nobody needs the time any more").isFalse();
  }

  @Test
  void fleetsThatAreInventedByTheThousandAreForgotten() {
    for (int i = 0; i < 2 * FleetTable.FLEETS_MAX; i++) {
      heard("forged" + i, "f", 10_000);
    }
    ticks(13_000, 40_000);
    assertThat(table.gone()).hasSize(FleetTable.FLEETS_MAX);
  }

  @Test
  void whoIsHeardAgainIsThereAgain() {
    heard("s", "a", 10_000);
    ticks(13_000, 40_000);
    heard("s", "a", 41_000);
    assertThat(table.gone()).isEmpty();
    ticks(44_000, 62_000);
    assertThat(table.gone()).isEqualTo(Map.of("s", 41_000L));
  }

  @Test
  void aSessionLivesWhileOneOfItsFleetsDoes() {
    heard("s", "a", 10_000);
    heard("s", "b", 11_000);
    for (long millis = 14_000; millis < 60_000; millis += 3_000) {
      heard("s", "b", millis);
      heard("t", "c", millis);
    }
    assertThat(table.gone()).isEmpty();
    left("s", "b", 61_000);
    assertThat(table.gone()).isEqualTo(Map.of("s", 61_000L));
  }

  @Test
  void whatWasTakenBackByNobodyKnownSaysNothing() {
    left("s", "a", 10_000);
    assertThat(table.gone()).isEmpty();
    assertThat(table.isAnyInQuestion()).isFalse();
  }

  /** Brokers away for an hour, or one whose clock is an hour off: nobody is gone for that. */
  @Test
  void aClockThatJumpsKillsNobody() {
    heard("s", "a", HOUR);
    heard("t", "b", 2 * HOUR);
    assertThat(table.gone()).isEmpty();
    heard("s", "a", HOUR + 3_000);
    heard("t", "b", HOUR + 3_500);
    heard("s", "a", HOUR + 6_000);
    assertThat(table.gone()).isEmpty();
    ticks(3 * HOUR, 3 * HOUR + 6_000);
    assertThat(table.gone()).isEmpty();
    ticks(3 * HOUR + 6_000, 3 * HOUR + 18_000);
    assertThat(table.gone()).containsOnlyKeys("s", "t");
  }

  @Test
  void deadAreThoseWhoseChunksAreAllApplied() {
    Deaths deaths = new Deaths(Map.of("s", new Deaths.Death(77, Map.of(0, 12L))));
    assertThat(deaths.since("s", 0, 11)).isEmpty();
    assertThat(deaths.since("s", 0, 12)).hasValue(77);
    assertThat(deaths.since("s", 1, 12)).as("a partition that nobody asked for").isEmpty();
    assertThat(deaths.since("t", 0, 12)).isEmpty();
  }
}
