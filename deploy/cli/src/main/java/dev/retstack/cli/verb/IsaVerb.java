package dev.retstack.cli.verb;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.Tables;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Isas;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code retstack isa}: the capability table, one row per ISA and calling convention. */
@Command(
    name = "isa",
    description = {
      "Show what is traced: per ISA and calling convention of the counting function,",
      "which compiler flags make it, what it is called, and which checks are exact there."
    },
    footer = "  retstack isa --format json")
public final class IsaVerb extends Verb {
  private static final List<String> HEADER =
      List.of(
          "isa",
          "bits",
          "byteOrder",
          "convention",
          "flags",
          "symbols",
          "hook",
          "fpCheck",
          "retpCheck",
          "remark");

  @Mixin private FormatOption format;

  @Override
  int run() throws Exception {
    List<List<String>> rows = new ArrayList<>();
    for (Isa isa : Isas.all()) {
      for (AbiCard card : isa.conventions()) {
        rows.add(row(isa, card));
      }
    }
    switch (format.format()) {
      case TEXT -> Tables.text(out(), HEADER, rows);
      case CSV -> Tables.csv(out(), HEADER, rows);
      case JSON -> {
        ArrayNode all = Tables.JSON.createArrayNode();
        for (Isa isa : Isas.all()) {
          isa.conventions().forEach(card -> addObject(all, isa, card));
        }
        Tables.json(out(), all);
      }
    }
    return ExitCode.OK;
  }

  private static List<String> row(Isa isa, AbiCard card) {
    return List.of(
        isa.name(),
        String.valueOf(isa.wordBytes() * Byte.SIZE),
        byteOrder(isa),
        card.name(),
        card.flags(),
        card.symbols().stream().map(IsaVerb::printable).collect(Collectors.joining(" ")),
        moment(card),
        card.fpCheck() ? "yes" : "no",
        card.retpCheck() ? "yes" : "no",
        card.remark());
  }

  private static void addObject(ArrayNode all, Isa isa, AbiCard card) {
    var object =
        all.addObject()
            .put("isa", isa.name())
            .put("bits", isa.wordBytes() * Byte.SIZE)
            .put("byteOrder", byteOrder(isa))
            .put("convention", card.name())
            .put("flags", card.flags())
            .put("hook", moment(card))
            .put("fpCheck", card.fpCheck())
            .put("retpCheck", card.retpCheck())
            .put("remark", card.remark());
    ArrayNode symbols = object.putArray("symbols");
    card.symbols().forEach(symbols::add);
  }

  /** A toolchain may put a control character before a name; a table may not. */
  private static String printable(String symbol) {
    return symbol.chars().allMatch(c -> c > ' ')
        ? symbol
        : symbol.replaceAll("\\p{Cntrl}", "\\\\1");
  }

  private static String byteOrder(Isa isa) {
    return isa.order() == ByteOrder.BIG_ENDIAN ? "big" : "little";
  }

  private static String moment(AbiCard card) {
    return card.moment().name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
