package dev.retstack.machine.testing;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.SiteFacts;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** Code of a test as hex, at an address; nothing around it. */
public final class Listing implements Code {
  private final long start;
  private final byte[] bytes;

  private Listing(long start, byte[] bytes) {
    this.start = start;
    this.bytes = bytes;
  }

  public static Listing at(long start, String hex) {
    return new Listing(start, HexFormat.of().parseHex(hex.replace(" ", "")));
  }

  /** Address behind the last byte. */
  public long end() {
    return start + bytes.length;
  }

  @Override
  public long at(long address) {
    long code = 0;
    for (int i = Long.BYTES - 1; i >= 0; i--) {
      long offset = address + i - start;
      code = code << 8 | (offset >= 0 && offset < bytes.length ? bytes[(int) offset] & 0xff : 0);
    }
    return code;
  }

  /** Names of the cards that take the site at {@code site}, which ends at {@code after}. */
  public List<String> takenBy(List<AbiCard> cards, long site, long after) {
    return cards.stream()
        .filter(card -> card.prologue().scan(this, start, site, after).isPresent())
        .map(AbiCard::name)
        .toList();
  }

  /** What a card finds at a site without a call. */
  public Optional<SiteFacts> facts(AbiCard card, long site) {
    return card.prologue().scan(this, start, site, site);
  }

  public static String hex(byte[] code) {
    return HexFormat.ofDelimiter(" ").formatHex(code);
  }
}
