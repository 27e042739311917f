package dev.retstack.fleet.isa.call;

/** Code of a program, read where it stands: in its file or in guest memory. */
@FunctionalInterface
public interface Code {
  /** The eight bytes at an address, the first one lowest; 0 for bytes that are not there. */
  long at(long address);

  /** The four bytes at an address as a number in big-endian byte order. */
  default int bigEndianWord(long address) {
    return Integer.reverseBytes((int) at(address));
  }
}
