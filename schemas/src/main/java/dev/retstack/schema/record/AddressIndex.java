package dev.retstack.schema.record;

import java.util.Arrays;

/**
 * Gives numbers to addresses: a hash table with open addressing over primitive arrays. Number 0
 * means none.
 */
public final class AddressIndex {
  private static final int SLOTS_MIN = 256;
  private static final long MIX = 0x9e37_79b9_7f4a_7c15L;

  private long[] addresses = new long[SLOTS_MIN];
  private int[] numbers = new int[SLOTS_MIN];
  private int shift = 64 - Integer.numberOfTrailingZeros(SLOTS_MIN);
  private int size;

  public void clear() {
    Arrays.fill(numbers, 0);
    size = 0;
  }

  /** Number of the address, or 0. */
  public int get(long address) {
    int mask = numbers.length - 1;
    int slot = (int) ((address * MIX) >>> shift);
    while (true) {
      int number = numbers[slot & mask];
      if (number == 0 || addresses[slot & mask] == address) {
        return number;
      }
      slot++;
    }
  }

  /** Gives a number, not 0, to an address that has none. */
  public void put(long address, int number) {
    if (++size * 2 > numbers.length) {
      grow();
    }
    place(address, number);
  }

  private void place(long address, int number) {
    int mask = numbers.length - 1;
    int slot = (int) ((address * MIX) >>> shift) & mask;
    while (numbers[slot] != 0) {
      slot = slot + 1 & mask;
    }
    addresses[slot] = address;
    numbers[slot] = number;
  }

  private void grow() {
    long[] oldAddresses = addresses;
    int[] oldNumbers = numbers;
    addresses = new long[oldAddresses.length * 2];
    numbers = new int[oldNumbers.length * 2];
    shift--;
    for (int i = 0; i < oldNumbers.length; i++) {
      if (oldNumbers[i] != 0) {
        place(oldAddresses[i], oldNumbers[i]);
      }
    }
  }
}
