package dev.retstack.cli.isa;

import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.CallForm;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Operand;
import dev.retstack.fleet.isa.Slot;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.unicorn.RegisterNames;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/** An ABI card in words: one row of the capability table. */
public final class CardText {
  private final Isa isa;
  private final AbiCard card;

  public CardText(Isa isa, AbiCard card) {
    this.isa = isa;
    this.card = card;
  }

  /** {@code little} or {@code big}. */
  public String byteOrder() {
    return isa.order() == ByteOrder.BIG_ENDIAN ? "big" : "little";
  }

  /** When the entry is seen: {@code before prologue}, {@code after prologue}. */
  public String moment() {
    return card.moment().name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** Names of the counting function; without one, the section that lists the sites. */
  public List<String> symbols() {
    return card.siteTable() == AbiCard.SiteTable.NONE
        ? card.symbols().stream().map(CardText::printable).toList()
        : List.of(card.siteTable().toString());
  }

  /** A toolchain may put a control character before a name; a table may not. */
  private static String printable(String symbol) {
    return symbol.chars().allMatch(c -> c > ' ')
        ? symbol
        : symbol.replaceAll("\\p{Cntrl}", "\\\\1");
  }

  /** The places that may hold the return address at entry (frompc), the first that applies. */
  public List<String> frompc() {
    List<String> places = new ArrayList<>();
    for (Slot slot : card.slots()) {
      String place =
          switch (slot.place()) {
            case MEMORY -> "[" + operand(slot.address()) + "]";
            case SAVED -> "[" + operand(slot.address()) + "+k]";
            case REGISTER -> register(slot.register()) + signed(slot.addend());
          };
      if (!places.contains(place)) {
        places.add(place);
      }
    }
    return places;
  }

  /** The calls of the counting function: bytes in the order of memory, dots for what may vary. */
  public List<String> callSites() {
    return card.siteTable() == AbiCard.SiteTable.NONE
        ? card.callForms().stream().map(CardText::bytes).distinct().toList()
        : nops();
  }

  /** The bytes of a site that is switched off. */
  public List<String> nops() {
    List<byte[]> nops =
        card.siteTable() == AbiCard.SiteTable.NONE ? List.of(card.nop()) : card.siteNops();
    return nops.stream().map(HexFormat.ofDelimiter(" ")::formatHex).toList();
  }

  /** What an exit is checked by. */
  public String check() {
    List<String> checks = new ArrayList<>();
    if (card.fpCheck()) {
      checks.add("fp");
    }
    if (card.retpCheck()) {
      checks.add("retp");
    }
    return checks.isEmpty() ? "no" : String.join("+", checks);
  }

  /** Images of the zoo that are of this card: the suite runs on them; empty outside a checkout. */
  public List<String> verifiedBy(List<LoadedImage> zoo) {
    return zoo.stream()
        .filter(image -> image.isa().equals(isa) && Zoo.card(image).equals(card))
        .map(image -> image.elf().name())
        .toList();
  }

  private String operand(Operand operand) {
    String place = register(operand.register()) + signed(operand.offset());
    return operand.inMemory() ? "[" + place + "]" + signed(operand.addend()) : place;
  }

  private String register(int register) {
    return RegisterNames.of(isa.engine().arch(), register);
  }

  private static String signed(long offset) {
    return offset == 0 ? "" : "%+d".formatted(offset);
  }

  private static String bytes(CallForm form) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < form.size(); i++) {
      long mask = form.mask() >>> (8 * i) & 0xff;
      long pattern = form.pattern() >>> (8 * i) & 0xff;
      text.append(i == 0 ? "" : " ");
      for (int nibble = 4; nibble >= 0; nibble -= 4) {
        boolean fixed = (mask >>> nibble & 0xf) == 0xf;
        text.append(fixed ? Character.forDigit((int) (pattern >>> nibble & 0xf), 16) : '.');
      }
    }
    return text.toString();
  }
}
