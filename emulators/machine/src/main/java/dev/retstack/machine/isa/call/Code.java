package dev.retstack.machine.isa.call;

import java.nio.ByteOrder;

/** Code of a program, read where it stands: in its file or in guest memory. */
@FunctionalInterface
public interface Code {
  /** The eight bytes at an address, the first one lowest; 0 for bytes that are not there. */
  long at(long address);

  /** The first four bytes of what {@link #at} gives, as a number in this byte order. */
  static int word(ByteOrder order, long code) {
    return order == ByteOrder.BIG_ENDIAN ? Integer.reverseBytes((int) code) : (int) code;
  }

  /** The four bytes at an address as a number in big-endian byte order. */
  default int bigEndianWord(long address) {
    return word(ByteOrder.BIG_ENDIAN, at(address));
  }
}
