package dev.retstack.fleet.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.Seeds;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GuestMemoryTest {
  private static final int RW = GuestMemory.READ | GuestMemory.WRITE;

  private static GuestMemory memory(int word, ByteOrder order) {
    return new GuestMemory(word, order, MemoryListener.NONE);
  }

  @Test
  void wordsAreInTheGuestsByteOrder() {
    try (GuestMemory big = memory(4, ByteOrder.BIG_ENDIAN);
        GuestMemory little = memory(8, ByteOrder.LITTLE_ENDIAN)) {
      big.map(0x1000, 0x1000, RW);
      big.writeWord(0x1000, 0xffff_ffff_8182_8384L);
      assertThat(big.read(0x1000, 4)).isEqualTo(new byte[] {-127, -126, -125, -124});
      assertThat(big.readWord(0x1000)).isEqualTo(0x8182_8384L);
      little.map(0x1000, 0x1000, RW);
      little.writeLong(0x1001, 0x0102_0304_0506_0708L);
      assertThat(little.read(0x1001, 2)).isEqualTo(new byte[] {8, 7});
      assertThat(little.readWord(0x1001)).isEqualTo(0x0102_0304_0506_0708L);
    }
  }

  @Test
  void accessesMayCrossRegionsButNotHoles() {
    try (GuestMemory memory = memory(8, ByteOrder.LITTLE_ENDIAN)) {
      memory.map(0x2000, 0x1000, RW);
      memory.map(0x1000, 0x1000, RW);
      memory.writeLong(0x1ffc, 0x1122_3344_5566_7788L);
      assertThat(memory.readLong(0x1ffc)).isEqualTo(0x1122_3344_5566_7788L);
      assertThatThrownBy(() -> memory.writeLong(0x2ffc, -1))
          .isInstanceOf(GuestAccessException.class);
      assertThat(memory.readInt(0x2ffc)).isZero(); // nothing was written of it
      assertThatThrownBy(() -> memory.readByte(0xfff)).isInstanceOf(GuestAccessException.class);
      memory.write(0x2ffd, "abc".getBytes(StandardCharsets.UTF_8));
      assertThatThrownBy(() -> memory.readString(0x2ffd, 10))
          .isInstanceOf(GuestAccessException.class);
    }
  }

  @Test
  void theTopOfTheAddressSpaceIsAnOrdinaryPlace() {
    try (GuestMemory memory = memory(8, ByteOrder.LITTLE_ENDIAN)) {
      memory.map(-0x1000, 0x1000, RW);
      memory.map(0x1000, 0x1000, RW);
      memory.writeLong(-8, 42);
      assertThat(memory.readLong(-8)).isEqualTo(42);
      assertThat(memory.isMapped(-8, 9)).isFalse();
      memory.unmap(-0x1000, 0x1000);
      assertThat(memory.isMapped(-8, 1)).isFalse();
      assertThat(memory.isMapped(0x1000, 0x1000)).isTrue();
    }
  }

  @Test
  void badRangesAreRefused() {
    try (GuestMemory memory = memory(8, ByteOrder.LITTLE_ENDIAN)) {
      memory.map(0x1000, 0x2000, RW);
      for (long[] range : new long[][] {{1, 0x1000}, {0x8000, 1}, {0x8000, 0}, {-0x1000, 0x2000}}) {
        assertThatThrownBy(() -> memory.map(range[0], range[1], RW))
            .isInstanceOf(IllegalArgumentException.class);
      }
      assertThatThrownBy(() -> memory.map(0x2000, 0x1000, RW))
          .hasMessageContaining("mapped already");
      assertThatThrownBy(() -> memory.protect(0x2000, 0x2000, RW))
          .isInstanceOf(GuestAccessException.class);
    }
  }

  /** Random maps, unmaps and protects against a bit per page. */
  @Test
  void mappingsAreThoseOfAPlainModel() {
    long seed = Seeds.fresh();
    System.out.println("GuestMemoryTest: seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    BitSet model = new BitSet();
    try (GuestMemory memory = memory(8, ByteOrder.LITTLE_ENDIAN)) {
      for (int step = 0; step < 2_000; step++) {
        int page = random.nextInt(64);
        int pages = 1 + random.nextInt(8);
        long address = 0x10000L + (long) page * GuestMemory.PAGE;
        long size = (long) pages * GuestMemory.PAGE;
        boolean free = model.get(page, page + pages).isEmpty();
        assertThat(memory.overlaps(address, size)).isEqualTo(!free);
        if (random.nextInt(3) == 0) {
          memory.unmap(address, size);
          model.clear(page, page + pages);
        } else if (free) {
          memory.map(address, size, RW);
          model.set(page, page + pages);
          memory.writeLong(address, address);
        }
        for (int i = 0; i < 72; i++) {
          long at = 0x10000L + (long) i * GuestMemory.PAGE;
          assertThat(memory.permissionsAt(at)).isEqualTo(model.get(i) ? RW : -1);
        }
        long found = memory.findFree(0x10000, size, 0x1000000);
        assertThat(memory.overlaps(found, size)).isFalse();
      }
    }
  }
}
