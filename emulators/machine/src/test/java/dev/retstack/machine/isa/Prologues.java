package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.Prologue;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/** Scans prologues that a compiler made, written as its listing shows them. */
final class Prologues {
  static final long FUNCTION = 0x10_0000;

  private final Prologue prologue;

  Prologues(Prologue prologue) {
    this.prologue = prologue;
  }

  /**
   * What is found at a call that stands behind the listing.
   *
   * @param listing instructions as numbers of 4 or 8 hex digits, little-endian in memory, apart by
   *     spaces
   */
  Optional<SiteFacts> scan(String listing) {
    ByteBuffer bytes = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
    for (String number : listing.trim().split("\\s+", -1)) {
      if (number.length() == 4) {
        bytes.putShort((short) Integer.parseInt(number, 16));
      } else {
        bytes.putInt((int) Long.parseLong(number, 16));
      }
    }
    long site = FUNCTION + bytes.position();
    Code code =
        address -> {
          long at = address - FUNCTION;
          return at >= 0 && at <= bytes.capacity() - Long.BYTES ? bytes.getLong((int) at) : 0;
        };
    return prologue.scan(code, FUNCTION, site, site + 4);
  }

  /** The offset at which the return address was found saved; fails where it was not. */
  long savedAt(String listing) {
    SiteFacts facts = scan(listing).orElseThrow();
    if (facts.where() != Where.SAVED) {
      throw new AssertionError("not saved: " + facts);
    }
    return facts.savedAt();
  }
}
