package dev.retstack.cli.isa;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.option.Tables;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.ForeignAbis;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Isas;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** One row per ISA and calling convention of the counting function. */
public final class CapabilityTable {
  private static final List<String> HEADER =
      List.of(
          "isa",
          "bits",
          "byteOrder",
          "convention",
          "flags",
          "symbols",
          "hook",
          "frompc",
          "callSite",
          "nop",
          "check",
          "verified",
          "remark");

  private CapabilityTable() {}

  /** Writes the table in one of its shapes. */
  public static void write(Format format, PrintStream out) throws IOException {
    List<LoadedImage> zoo = Zoo.isHere() ? Zoo.images() : List.of();
    List<List<String>> rows = new ArrayList<>();
    ArrayNode all = Tables.JSON.createArrayNode();
    for (Isa isa : Isas.all()) {
      for (AbiCard card : isa.conventions()) {
        if (format == Format.JSON) {
          addObject(all, isa, card, zoo);
        } else {
          rows.add(row(isa, card, zoo));
        }
      }
    }
    switch (format) {
      case JSON -> Tables.json(out, all);
      case CSV -> Tables.csv(out, HEADER, rows);
      case TEXT -> {
        Tables.text(out, HEADER, rows);
        out.println();
        out.println("frompc: the first that applies; k is found in the function's prologue");
        out.println("not traced: " + String.join(", ", ForeignAbis.names()));
      }
    }
  }

  private static List<String> row(Isa isa, AbiCard card, List<LoadedImage> zoo) {
    CardText text = new CardText(isa, card);
    int images = text.verifiedBy(zoo).size();
    return List.of(
        isa.name(),
        String.valueOf(isa.wordBytes() * Byte.SIZE),
        text.byteOrder(),
        card.name(),
        card.flags(),
        String.join(" ", text.symbols()),
        text.moment(),
        String.join(" or ", text.frompc()),
        String.join(" or ", text.callSites()),
        String.join(" or ", text.nops()),
        text.check(),
        images == 0 ? "no" : images == 1 ? "1 image" : images + " images",
        card.remark());
  }

  private static void addObject(ArrayNode all, Isa isa, AbiCard card, List<LoadedImage> zoo) {
    CardText text = new CardText(isa, card);
    ObjectNode object =
        all.addObject()
            .put("isa", isa.name())
            .put("bits", isa.wordBytes() * Byte.SIZE)
            .put("byteOrder", text.byteOrder())
            .put("convention", card.name())
            .put("flags", card.flags())
            .put("hook", text.moment())
            .put("fpCheck", card.fpCheck())
            .put("retpCheck", card.retpCheck())
            .put("remark", card.remark());
    put(object, "symbols", text.symbols());
    put(object, "frompc", text.frompc());
    put(object, "callSite", text.callSites());
    put(object, "nop", text.nops());
    put(object, "verified", text.verifiedBy(zoo));
  }

  private static void put(ObjectNode object, String name, List<String> values) {
    ArrayNode array = object.putArray(name);
    values.forEach(array::add);
  }
}
