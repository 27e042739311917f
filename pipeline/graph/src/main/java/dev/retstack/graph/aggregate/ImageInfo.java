package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.ImageTraits;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.symbol.SymbolTable;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What is known of an instrumented image.
 *
 * @param id build-id, the name by which chunks refer to it
 * @param name file name, for people
 * @param isa name of the ISA as in the capability table
 */
public record ImageInfo(
    String id, String name, String isa, ImageTraits traits, SymbolTable symbols) {

  void writeTo(DataOutput out) throws IOException {
    Fields.writeText(out, id);
    Fields.writeText(out, name);
    Fields.writeText(out, isa);
    out.writeBoolean(traits.fpCheck());
    out.writeBoolean(traits.retpCheck());
    out.writeLong(traits.handlerStart());
    out.writeLong(traits.handlerEnd());
    Fields.writeLongs(out, traits.copiedReturns());
    symbols.writeTo(out);
  }

  static ImageInfo readFrom(DataInput in) throws IOException {
    return new ImageInfo(
        Fields.readText(in),
        Fields.readText(in),
        Fields.readText(in),
        new ImageTraits(
            in.readBoolean(), in.readBoolean(), in.readLong(), in.readLong(), Fields.readLongs(in)),
        SymbolTable.readFrom(in));
  }
}
