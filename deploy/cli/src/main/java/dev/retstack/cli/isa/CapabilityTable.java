package dev.retstack.cli.isa;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.unicorn.RegisterNames;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/** One row per ISA and calling convention of the counting function. */
public final class CapabilityTable {
  private CapabilityTable() {}

  /** The table, and what its text needs to be understood. */
  public static Document document() throws IOException {
    List<LoadedImage> zoo = Zoo.isHere() ? Zoo.images() : List.of();
    List<Row> cards =
        Isas.all().stream()
            .flatMap(isa -> isa.conventions().stream().map(card -> new Row(isa, card)))
            .toList();
    return new Document()
        .indented()
        .table("", columns(zoo), cards)
        .gap()
        .line("frompc: the first that applies; k is found in the function's prologue")
        .line("not traced: " + String.join(", ", Isas.notTraced()));
  }

  private static Table<Row> columns(List<LoadedImage> zoo) {
    return new Table<Row>()
        .text("isa", text -> text.isa().name())
        .text("bits", text -> text.isa().wordBytes() * Byte.SIZE)
        .text("byteOrder", Row::byteOrder)
        .text("convention", text -> text.card().name())
        .text("flags", text -> text.card().flags())
        .text("symbols", text -> joined(text.symbols(), " "))
        .text("hook", Row::moment)
        .text("frompc", text -> joined(text.frompc(), " or "))
        .text("callSite", text -> joined(text.callSites(), " or "))
        .text("nop", text -> joined(text.nops(), " or "))
        .words("check", Row::check)
        .onlyJson("fpCheck", text -> text.card().fpCheck())
        .onlyJson("retpCheck", text -> text.card().retpCheck())
        .text("verified", text -> counted(text.verifiedBy(zoo)))
        .text("remark", text -> text.card().remark())
        .headedAsNamed();
  }

  private static Table.Shown joined(List<String> values, String divider) {
    return new Table.Shown(values, String.join(divider, values));
  }

  private static Table.Shown counted(List<String> images) {
    return new Table.Shown(
        images,
        switch (images.size()) {
          case 0 -> "no";
          case 1 -> "1 image";
          default -> images.size() + " images";
        });
  }

  /** An ABI card in words: one row. */
  private record Row(Isa isa, AbiCard card) {
    /** {@code little} or {@code big}. */
    String byteOrder() {
      return isa.order() == ByteOrder.BIG_ENDIAN ? "big" : "little";
    }

    /** When the entry is seen: {@code before prologue}, {@code after prologue}. */
    String moment() {
      return card.moment().name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Names of the counting function; without one, the section that lists the sites. */
    List<String> symbols() {
      return card.siteTable() == AbiCard.SiteTable.NONE
          ? card.symbols().stream().map(Row::printable).toList()
          : List.of(card.siteTable().toString());
    }

    /** A toolchain may put a control character before a name; a table may not. */
    private static String printable(String symbol) {
      return symbol.chars().allMatch(c -> c > ' ')
          ? symbol
          : symbol.replaceAll("\\p{Cntrl}", "\\\\1");
    }

    /** The places that may hold the return address at entry (frompc), the first that applies. */
    List<String> frompc() {
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
    List<String> callSites() {
      return card.siteTable() == AbiCard.SiteTable.NONE
          ? card.callForms().stream().map(Row::bytes).distinct().toList()
          : nops();
    }

    /** The bytes of a site that is switched off. */
    List<String> nops() {
      List<byte[]> nops =
          card.siteTable() == AbiCard.SiteTable.NONE ? List.of(card.nop()) : card.siteNops();
      return nops.stream().map(HexFormat.ofDelimiter(" ")::formatHex).toList();
    }

    /** What an exit is checked by. */
    String check() {
      List<String> checks = new ArrayList<>();
      if (card.fpCheck()) {
        checks.add("fp");
      }
      if (card.retpCheck()) {
        checks.add("retp");
      }
      return checks.isEmpty() ? "no" : String.join("+", checks);
    }

    /**
     * Images of the zoo that are of this card: the suite runs on them; empty outside a checkout.
     */
    List<String> verifiedBy(List<LoadedImage> zoo) {
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
}
