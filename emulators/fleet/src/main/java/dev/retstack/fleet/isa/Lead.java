package dev.retstack.fleet.isa;

import it.unimi.dsi.fastutil.bytes.ByteList;

/**
 * Instructions in front of a call of the counting function that serve it alone: with the call they
 * are one site, to be switched off together.
 *
 * @param text as an assembler prints them
 * @param code in the order of memory, at most 8 bytes
 * @param nop what takes the place of the whole site, again and again
 */
record Lead(String text, ByteList code, Filler nop) {
  /** A site that is all nops. */
  byte[] nops(int callBytes) {
    return nop.over(new byte[code.size() + callBytes]);
  }

  /** True where a site begins with it, and a call follows. */
  boolean begins(byte[] site) {
    return site.length > code.size() && ByteList.of(site).subList(0, code.size()).equals(code);
  }

  /** True where it stands directly before a call. */
  boolean precedes(Code memory, long call) {
    long there = memory.at(call - code.size());
    for (int i = 0; i < code.size(); i++) {
      if ((byte) (there >>> (Byte.SIZE * i)) != code.getByte(i)) {
        return false;
      }
    }
    return true;
  }
}
