package dev.retstack.graph.hot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The table step by step, each step worked out by hand. That a whole run equals the table of a
 * guest is shown where both are at hand (deploy/cli).
 */
class SeedTableTest {
  private static final HotSettings THREE = HotSettings.SEED.withEntries(3);

  @Test
  void aHitAddsMovesUpAndSetsTheRatioOfThatMoment() {
    SeedTable table = table(THREE.withDecay(false), 0xa, 0xb, 0xb);
    assertThat(table.counts())
        .containsExactly(entry(0xb, 20, 1024 * 20 / 30), entry(0xa, 10, 1024));
    assertThat(table.total()).isEqualTo(30);
  }

  @Test
  void equalHitsDoNotMove() {
    assertThat(table(THREE.withDecay(false), 0xa, 0xb).counts())
        .containsExactly(entry(0xa, 10, 1024), entry(0xb, 10, 512));
  }

  @Test
  void eachHitTakesOneFromTheNextInTurnBeforeItCounts() {
    // 0xa: nothing to take. 0xa again: entry 1 is empty. Third: entry 2 is empty. Fourth: entry 0.
    assertThat(table(THREE, 0xa, 0xa, 0xa, 0xa).counts()).containsExactly(entry(0xa, 39, 1024));
    assertThat(table(THREE, 0xa, 0xa, 0xa, 0xa).total()).isEqualTo(39);
  }

  @Test
  void decayStopsAtOneSoThatAnEntryIsNeverFreeAgain() {
    HotSettings weak = THREE.withIncrement(1);
    assertThat(table(weak, 0xa, 0xb, 0xc, 0xd, 0xd, 0xd).counts().stream().map(HotCount::hits))
        .allMatch(hits -> hits >= 1);
    assertThat(table(weak, 0xa, 0xb, 0xc, 0xd).counts().stream().map(HotCount::address))
        .containsExactly(0xaL, 0xbL, 0xdL);
  }

  @Test
  void theLastOneMakesRoomAndIsForgottenWithItsHits() {
    SeedTable table = table(THREE.withDecay(false), 0xa, 0xa, 0xb, 0xb, 0xc, 0xd);
    assertThat(table.counts())
        .containsExactly(entry(0xa, 20, 1024), entry(0xb, 20, 512), entry(0xd, 10, 1024 * 10 / 50));
    assertThat(table.total()).isEqualTo(50);
  }

  @Test
  void addressesOfOneWidthAreOneEntry() {
    assertThat(table(THREE.withDecay(false).withWidth(16), 0x101, 0x10f, 0x110).counts())
        .extracting(HotCount::address, HotCount::hits)
        .containsExactly(tuple(0x100L, 20L), tuple(0x110L, 10L));
  }

  @Test
  void ignoredAddressesChangeNothingNotEvenWhoseTurnItIs() {
    HotSettings ignoring = THREE.withIgnored(List.of(new AddressRange(0x100, 0x200)));
    SeedTable with = table(ignoring, 0xa, 0x100, 0xa, 0x1ff, 0xa, 0x150, 0xa, 0x200);
    SeedTable without = table(ignoring, 0xa, 0xa, 0xa, 0xa, 0x200);
    assertThat(with.counts()).isEqualTo(without.counts()).hasSize(2);
    assertThat(table(HotSettings.SEED, 0).counts()).isEmpty();
  }

  @Test
  void theSumHas32BitsAndWraps() {
    HotSettings strong = THREE.withDecay(false).withIncrement(1 << 30);
    SeedTable table = table(strong, 0xa, 0xa, 0xa, 0xa);
    assertThat(table.total()).isZero();
    assertThat(table.counts()).containsExactly(entry(0xa, 1L << 32, 0xffff_ffffL));
    table.hit(0xa);
    assertThat(table.counts()).containsExactly(entry(0xa, 5L << 30, 5 * 1024));
  }

  @Test
  void tablesOfCoresAreAddedByAddress() {
    SeedTable one = table(THREE.withDecay(false), 0xa, 0xa, 0xb);
    SeedTable other = table(THREE.withDecay(false), 0xb, 0xb, 0xc);
    HotCounter sum = new SeedTable(THREE).merge(List.of(one, other));
    assertThat(sum.counts())
        .containsExactly(entry(0xb, 30, 512), entry(0xa, 20, 1024 / 3), entry(0xc, 10, 1024 / 6));
    assertThat(sum.counts()).isEqualTo(new SeedTable(THREE).merge(List.of(other, one)).counts());
  }

  @Test
  void settingsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> HotSettings.SEED.withWidth(3)).hasMessageContaining("power of two");
    assertThatThrownBy(() -> HotSettings.SEED.withEntries(0)).hasMessageContaining("0 entries");
    assertThatThrownBy(() -> AddressRange.parse("0x20-0x10")).hasMessageContaining("empty");
    assertThatThrownBy(() -> AddressRange.parse("main")).hasMessageContaining("0x8000-0x8fff");
    assertThat(AddressRange.parse("0x10-0x1f")).isEqualTo(new AddressRange(0x10, 0x20));
    assertThat(AddressRange.parse("0xffffffffffffff00").contains(-256)).isTrue();
  }

  private static SeedTable table(HotSettings settings, long... addresses) {
    SeedTable table = new SeedTable(settings);
    for (long address : addresses) {
      table.hit(address);
    }
    return table;
  }

  private static HotCount entry(long address, long hits, long ratio) {
    return new HotCount(address, hits, ratio);
  }
}
