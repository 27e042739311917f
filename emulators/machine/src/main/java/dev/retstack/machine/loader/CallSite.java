package dev.retstack.machine.loader;

import dev.retstack.machine.isa.call.SiteFacts;

/**
 * A place where a function shows that it was entered.
 *
 * @param address of the call of the counting function, or of the first nop: the function's selfpc
 * @param function address of the function's first instruction; {@code address} where neither a
 *     symbol nor unwind information has it
 * @param after address behind the call; {@code address} where there is no call
 * @param facts what the code around it shows
 * @param ahead true where nothing at the site shows the return address: the function is entered at
 *     its first instruction, and passes the site unnoticed
 */
public record CallSite(long address, long function, long after, SiteFacts facts, boolean ahead) {
  /** A site where its function is entered. */
  CallSite(long address, long function, long after, SiteFacts facts) {
    this(address, function, after, facts, false);
  }
}
