package dev.retstack.machine.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.testing.Seeds;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  /** Random maps, unmaps and protects against a number per page, with a reserve and without. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void mappingsAreThoseOfAPlainModel(boolean reserved) {
    long seed = Seeds.fresh();
    System.out.println("GuestMemoryTest: seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    int[] model = new int[80];
    Arrays.fill(model, -1);
    try (GuestMemory memory = memory(8, ByteOrder.LITTLE_ENDIAN)) {
      if (reserved) {
        memory.reserve(at(20), 30L * GuestMemory.PAGE);
      }
      for (int step = 0; step < 2_000; step++) {
        int page = random.nextInt(64);
        int pages = 1 + random.nextInt(8);
        long address = at(page);
        long size = (long) pages * GuestMemory.PAGE;
        int perms = random.nextInt(8);
        boolean free = IntStream.range(page, page + pages).allMatch(i -> model[i] < 0);
        boolean full = IntStream.range(page, page + pages).allMatch(i -> model[i] >= 0);
        assertThat(memory.overlaps(address, size)).isEqualTo(!free);
        assertThat(memory.isMapped(address, size)).isEqualTo(full);
        int before = memory.mappingCount();
        if (random.nextInt(3) == 0) {
          int more = memory.moreWithout(address, size);
          memory.unmap(address, size);
          Arrays.fill(model, page, page + pages, -1);
          assertThat(memory.mappingCount() - before).isEqualTo(more);
        } else if (full) {
          int more = memory.moreProtected(address, size, perms);
          if (memory.isWithinOne(address, size)) {
            memory.renew(address, size, perms);
            assertThat(memory.readLong(address)).isZero();
          } else {
            memory.protect(address, size, perms);
          }
          Arrays.fill(model, page, page + pages, perms);
          assertThat(memory.mappingCount() - before).isEqualTo(more);
        } else if (free) {
          memory.map(address, size, perms);
          Arrays.fill(model, page, page + pages, perms);
          assertThat(memory.read(address, (int) size)).containsOnly(0);
          memory.writeLong(address, address);
        }
        for (int i = 0; i < 72; i++) {
          assertThat(memory.permissionsAt(at(i))).isEqualTo(model[i]);
        }
        assertThat(memory.mappingCount()).isEqualTo(runs(memory));
        checkHosts(memory, model);
        long found = memory.findFree(0x10000, size, 0x1000000);
        assertThat(found).isEqualTo(lowest(model, pages));
      }
    }
  }

  private static long at(int page) {
    return 0x10000L + (long) page * GuestMemory.PAGE;
  }

  /** Pieces of mappings whose pages have the same permissions. */
  private static int runs(GuestMemory memory) {
    int runs = 0;
    for (Mapping mapping : memory.mappings()) {
      int last = -1;
      for (long at = 0; at < mapping.host().byteSize(); at += GuestMemory.PAGE) {
        int perms = memory.permissionsAt(mapping.start() + at);
        runs += perms == last ? 0 : 1;
        last = perms;
      }
    }
    return runs;
  }

  /** Each page that is mapped has host memory, and no other has. */
  private static void checkHosts(GuestMemory memory, int[] model) {
    BitSet there = new BitSet();
    for (HostRange range : memory.hosts()) {
      for (long page = 0; page < range.host().byteSize() / GuestMemory.PAGE; page++) {
        if (range.pages().equals(MemorySegment.NULL) || range.pages().get(JAVA_BYTE, page) != 0) {
          there.set((int) ((range.start() - at(0)) / GuestMemory.PAGE + page));
        }
      }
    }
    for (int i = 0; i < model.length; i++) {
      assertThat(there.get(i)).isEqualTo(model[i] >= 0);
    }
  }

  /** The first place with a free page on either side. */
  private static long lowest(int[] model, int pages) {
    int page = 0;
    for (int i = 0; i < model.length; i++) {
      if (model[i] >= 0 && i < page + pages + 1) {
        page = i + 2;
      }
    }
    return at(page);
  }
}
