package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.ImageTraits;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.symbol.SymbolTable;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What is known of an instrumented image.
 *
 * @param id build-id, the name by which chunks refer to it
 * @param name file name, for people
 * @param isa name of the ISA as in the capability table
 * @param wordBytes bytes of a register, 4 or 8
 * @param sites addresses of call sites, where the image tells them
 * @param systemCalls name of the table by which its system calls are numbered, empty where unknown
 */
public record ImageInfo(
    String id,
    String name,
    String isa,
    ImageTraits traits,
    SymbolTable symbols,
    int wordBytes,
    LongList sites,
    String systemCalls) {
  public ImageInfo {
    sites = new LongImmutableList(sites);
  }

  /** An image of 64 bits that tells neither its call sites nor how system calls are numbered. */
  public ImageInfo(String id, String name, String isa, ImageTraits traits, SymbolTable symbols) {
    this(id, name, isa, traits, symbols, Long.BYTES, LongImmutableList.of(), "");
  }

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
    out.writeByte(wordBytes);
    Fields.writeLongs(out, sites);
    Fields.writeText(out, systemCalls);
  }

  static ImageInfo readFrom(DataInput in) throws IOException {
    return new ImageInfo(
        Fields.readText(in),
        Fields.readText(in),
        Fields.readText(in),
        new ImageTraits(
            in.readBoolean(), in.readBoolean(), in.readLong(), in.readLong(), Fields.readLongs(in)),
        SymbolTable.readFrom(in),
        in.readByte(),
        Fields.readLongs(in),
        Fields.readText(in));
  }
}
