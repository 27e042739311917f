package dev.retstack.machine.loader;

import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.Optional;

/**
 * A call site with everything that may be there. All forms have the length of the site and its
 * number of instructions, so time does not depend on the form that a core has.
 *
 * @param convention index in {@link LoadedImage#conventions}
 * @param site the call
 * @param start of the first instruction that belongs to it: the call, or what stands in front of it
 *     for it alone
 * @param call the bytes from {@code start} on, as in the file
 * @param nop what the site is when it is switched off; empty where the convention has nothing of
 *     that length
 * @param skip what the site is when it counts without a call: a jump behind itself, or at the
 *     beginning of a function a nop; empty where the counting function does something that the
 *     program sees
 * @param jumpEnd address behind the jump; 0 where {@code skip} is none
 */
public record PatchSite(
    int convention,
    CallSite site,
    long start,
    ByteList call,
    Optional<ByteList> nop,
    Optional<ByteList> skip,
    long jumpEnd) {

  /** True where a function begins with it, and a nop skips it. */
  public boolean skipsAtStart() {
    return skip.isPresent() && jumpEnd == 0;
  }

  /** True where an address lies in its middle: a core that stands there cannot have it changed. */
  public boolean splitBy(long pc) {
    return Long.compareUnsigned(pc - start - 1, call.size() - 1) < 0;
  }
}
