package dev.retstack.graph.input;

import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.symbol.FunctionNames;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.record.TaskName;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;

/**
 * What is known about an instrumented image.
 *
 * @param id build-id, the name by which chunks refer to it
 * @param name file name, for people
 * @param isa name of the ISA as in the capability table
 * @param wordBytes bytes of a register, 4 or 8
 * @param sites addresses of call sites, where the image has them
 * @param systemCalls name of the table by which its system calls are numbered, empty where unknown
 * @param objects data symbols, where tasks are known by the address of their control block
 * @param others images that its cores may map beside it
 */
public record ImageInfo(
    String id,
    String name,
    String isa,
    ImageTraits traits,
    SymbolTable symbols,
    int wordBytes,
    LongList sites,
    String systemCalls,
    SymbolTable objects,
    OtherImages others) {
  public ImageInfo {
    sites = new LongImmutableList(sites);
  }

  /** An image whose cores map no other. */
  public ImageInfo(
      String id,
      String name,
      String isa,
      ImageTraits traits,
      SymbolTable symbols,
      int wordBytes,
      LongList sites,
      String systemCalls,
      SymbolTable objects) {
    this(id, name, isa, traits, symbols, wordBytes, sites, systemCalls, objects, OtherImages.NONE);
  }

  /** An image that does not name its tasks. */
  public ImageInfo(
      String id,
      String name,
      String isa,
      ImageTraits traits,
      SymbolTable symbols,
      int wordBytes,
      LongList sites,
      String systemCalls) {
    this(id, name, isa, traits, symbols, wordBytes, sites, systemCalls, SymbolTable.EMPTY);
  }

  /** This image with other names of functions. */
  ImageInfo withSymbols(SymbolTable other) {
    return new ImageInfo(
        id, name, isa, traits, other, wordBytes, sites, systemCalls, objects, others);
  }

  /** This image, whose cores may map the other ones too. */
  public ImageInfo among(OtherImages images) {
    return new ImageInfo(
        id, name, isa, traits, symbols, wordBytes, sites, systemCalls, objects, images);
  }

  /** Equal images, whatever else cores of them map. */
  @Override
  public boolean equals(Object other) {
    return other instanceof ImageInfo that
        && id.equals(that.id)
        && name.equals(that.name)
        && isa.equals(that.isa)
        && traits.equals(that.traits)
        && symbols.equals(that.symbols)
        && wordBytes == that.wordBytes
        && sites.equals(that.sites)
        && systemCalls.equals(that.systemCalls)
        && objects.equals(that.objects);
  }

  @Override
  public int hashCode() {
    return id.hashCode();
  }

  /** Whether an address that a core of this image has behind the reader lies in it. */
  public boolean isOwn(long pc) {
    return others.of(pc, this) == null;
  }

  /** The image in which an address lies that a core of this one has behind the reader. */
  public ImageInfo of(long pc) {
    ImageInfo other = others.of(pc, this);
    return other == null ? this : other;
  }

  /** That address as {@link #of its image} has it. */
  public long in(long pc) {
    return isOwn(pc) ? pc : pc & OtherImages.ADDRESS;
  }

  /**
   * The program of which the function at an address is known by its name alone: in other images of
   * the program, too, that name is this function. Empty where no symbol names it, or where several
   * functions of its image have that name.
   */
  public String programOf(long pc) {
    ImageInfo of = of(pc);
    return of.symbols.isUnique(in(pc)) ? of.program() : "";
  }

  /**
   * The program that this is an image of: its file name up to the name of its ISA. {@code
   * zoo-arm-mcount.elf} of arm and {@code zoo-s390x-fentry.elf} of s390x are images of {@code zoo}.
   * A file whose name does not have its ISA as a word is named by all of it.
   */
  public String program() {
    for (int at = name.indexOf(isa); at >= 0 && !isa.isEmpty(); at = name.indexOf(isa, at + 1)) {
      int end = at + isa.length();
      if (at > 1 && isBreak(at - 1) && (end == name.length() || isBreak(end))) {
        return name.substring(0, at - 1);
      }
    }
    return name;
  }

  private boolean isBreak(int at) {
    return "-_.".indexOf(name.charAt(at)) >= 0;
  }

  /** Whether a core maps it beside its own. */
  public boolean isOther() {
    return others.has(id);
  }

  /** Names of functions, those of the others included. */
  public FunctionNames names() {
    return others == OtherImages.NONE ? symbols : new Names(this);
  }

  private interface Naming {
    String name(SymbolTable symbols, long pc);
  }

  /** An address of another image without a symbol is named by the image and the address in it. */
  private record Names(ImageInfo own) implements FunctionNames {
    @Override
    public String name(long pc) {
      return shown(pc, SymbolTable::name);
    }

    @Override
    public List<String> otherNames(long pc) {
      return own.of(pc).symbols.otherNames(own.in(pc));
    }

    @Override
    public String symbolPlusOffset(long pc) {
      return shown(pc, SymbolTable::symbolPlusOffset);
    }

    private String shown(long pc, Naming how) {
      ImageInfo other = own.others.of(pc, own);
      if (other == null) {
        return how.name(own.symbols, pc);
      }
      long at = pc & OtherImages.ADDRESS;
      return other.symbols.covers(at)
          ? how.name(other.symbols, at)
          : other.name + "+" + SymbolTable.hex(at);
    }

    @Override
    public String address(long pc) {
      ImageInfo image = own.of(pc);
      String at = SymbolTable.hex(own.in(pc));
      return own.isOwn(pc) ? at : image.name + " " + at;
    }

    @Override
    public long start(long pc) {
      long at = own.in(pc);
      return pc - at + own.of(pc).symbols.start(at);
    }

    @Override
    public SourceLine source(long pc) {
      return own.of(pc).symbols.source(own.in(pc));
    }

    @Override
    public boolean covers(long pc) {
      ImageInfo image = own.of(pc);
      return !own.isOwn(pc) || image.symbols.covers(pc);
    }
  }

  /** About what it takes in memory, with the sites once more where callers are looked up. */
  public long bytes() {
    long fixed = 1_000 + SymbolTable.textBytes(name) + 2L * SymbolTable.textBytes(id);
    long lists = Long.BYTES * (2L * sites.size() + traits.copiedReturns().size());
    return fixed + lists + symbols.bytes() + objects.bytes();
  }

  /**
   * The name of a task of a core: {@code worker-1001} where the program called it {@code worker},
   * as the tracer of the kernel prints it.
   *
   * @param instance which of the tasks of that id, from 1
   * @param called how the program calls it
   */
  public String taskName(long task, int instance, TaskName called) {
    String name;
    if (!called.isEmpty()) {
      name = called.text() + "-" + id(task);
    } else if (objects.covers(task)) {
      name = objects.symbolPlusOffset(task);
    } else {
      name = symbols.covers(task) ? symbols.symbolPlusOffset(task) : number(task);
    }
    return instance == 1 ? name : name + " (" + instance + ")";
  }

  private static String number(long task) {
    return "task " + id(task);
  }

  private static String id(long task) {
    return task < 0 || task > MAX_DECIMAL ? SymbolTable.hex(task) : Long.toString(task);
  }

  private static final int MAX_DECIMAL = 65_535;

  /** An image of 64 bits with unknown call sites and an unknown table of system calls. */
  public ImageInfo(String id, String name, String isa, ImageTraits traits, SymbolTable symbols) {
    this(id, name, isa, traits, symbols, Long.BYTES, LongImmutableList.of(), "");
  }

  public void writeTo(DataOutput out) throws IOException {
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
    objects.writeTo(out);
  }

  public static ImageInfo readFrom(DataInput in) throws IOException {
    return new ImageInfo(
        Fields.readText(in),
        Fields.readText(in),
        Fields.readText(in),
        new ImageTraits(
            in.readBoolean(), in.readBoolean(), in.readLong(), in.readLong(), Fields.readLongs(in)),
        SymbolTable.readFrom(in),
        in.readByte(),
        Fields.readLongs(in),
        Fields.readText(in),
        SymbolTable.readFrom(in));
  }
}
