package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFormatException;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.List;

/** What entries of one kind hold (DWARF 5, section 7.5.3). */
final class Abbreviation {
  static final int LOW_PC = 0x11;
  static final int RANGES = 0x55;
  private static final int SIBLING = 0x01;
  private static final int DECLARATION = 0x3c;

  private static final int SUBPROGRAM = 0x2e;
  private static final int ENUMERATION_TYPE = 0x04;
  private static final int SUBROUTINE_TYPE = 0x15;
  private static final int INLINED_SUBROUTINE = 0x1d;
  private static final int CALL_SITE = 0x48;
  private static final int GNU_CALL_SITE = 0x4109;

  /** Bytes of a sibling in the form that compilers write, as the last attribute. */
  static final int SIBLING_BYTES = 4;

  private final boolean function;

  /** True where no function with code can be inside, and the entry says where the next is. */
  private final boolean leaf;

  private final int[] attributes;
  private final int[] forms;
  private final long[] constants;

  /** How an entry is passed over: a number of bytes, or the complement of a form. */
  private final int[] passes;

  /** Attributes of an entry at most: compilers write some 30. */
  private static final int ATTRIBUTES_MAX = 256;

  private Abbreviation(
      boolean function,
      boolean leaf,
      IntArrayList attributes,
      IntArrayList forms,
      LongArrayList constants,
      IntArrayList passes) {
    this.function = function;
    this.leaf = leaf;
    this.attributes = attributes.toIntArray();
    this.forms = forms.toIntArray();
    this.constants = constants.toLongArray();
    this.passes = passes.toIntArray();
  }

  /** True for a function that has code. */
  boolean function() {
    return function;
  }

  /** Number of its attributes. */
  int count() {
    return attributes.length;
  }

  /** An attribute (DW_AT_*). */
  int attribute(int i) {
    return attributes[i];
  }

  /** How an attribute is written. */
  int form(int i) {
    return forms[i];
  }

  /** The value of an attribute that is written here. */
  long constant(int i) {
    return constants[i];
  }

  /** A table: the codes of compilers count from 1. */
  static final class Table {
    private final List<Abbreviation> counted = new ArrayList<>();
    private final Long2ObjectMap<Abbreviation> others = new Long2ObjectOpenHashMap<>();

    private void add(long code, Abbreviation abbreviation) {
      if (code == counted.size() + 1) {
        counted.add(abbreviation);
      } else {
        others.putIfAbsent(code, abbreviation);
      }
    }

    /** The abbreviation of a code; null where there is none. */
    Abbreviation get(long code) {
      return code > 0 && code <= counted.size() ? counted.get((int) code - 1) : others.get(code);
    }
  }

  /** Reads the table that begins here. */
  static Table table(DwarfBytes in, InfoUnit unit) throws ElfFormatException {
    Table table = new Table();
    for (long code = in.more() ? in.unsigned() : 0; code != 0; code = in.unsigned()) {
      table.add(code, read(in, unit));
      if (!in.more()) {
        break; // some linkers leave out the last zero
      }
    }
    return table;
  }

  private static Abbreviation read(DwarfBytes in, InfoUnit unit) throws ElfFormatException {
    long tag = in.unsigned();
    in.skip(1, "DW_CHILDREN");
    IntArrayList attributes = new IntArrayList();
    IntArrayList forms = new IntArrayList();
    LongArrayList constants = new LongArrayList();
    IntArrayList passes = new IntArrayList();
    boolean placed = false;
    boolean declared = false;
    int bytes = 0;
    for (long attribute = in.unsigned(); ; attribute = in.unsigned()) {
      int form = Math.clamp(in.unsigned(), 0, Integer.MAX_VALUE);
      if (attribute == 0 && form == 0) {
        break;
      }
      if (attributes.size() == ATTRIBUTES_MAX) {
        throw in.refuse("the attributes of an entry", "more", "at most " + ATTRIBUTES_MAX);
      }
      attributes.add(Math.clamp(attribute, 0, Integer.MAX_VALUE));
      forms.add(form);
      constants.add(form == Form.IMPLICIT_CONST ? in.signed() : 0);
      placed |= attribute == LOW_PC || attribute == RANGES;
      declared |= attribute == DECLARATION;
      int fixed = Form.bytes(form, unit);
      if (fixed < 0) {
        if (bytes > 0) {
          passes.add(bytes);
        }
        bytes = 0;
        passes.add(~form);
      } else {
        bytes += fixed;
      }
    }
    if (bytes > 0) {
      passes.add(bytes);
    }
    int last = attributes.size() - 1;
    boolean next =
        last >= 0 && attributes.getInt(last) == SIBLING && forms.getInt(last) == Form.REF4;
    return new Abbreviation(
        tag == SUBPROGRAM && placed,
        next && (declared || holdsNoFunction(tag)),
        attributes,
        forms,
        constants,
        passes);
  }

  private static boolean holdsNoFunction(long tag) {
    return tag == INLINED_SUBROUTINE
        || tag == CALL_SITE
        || tag == GNU_CALL_SITE
        || tag == SUBROUTINE_TYPE
        || tag == ENUMERATION_TYPE;
  }

  /** Passes over an entry, and over those inside where it says how far they reach. */
  void pass(DwarfBytes in, InfoUnit unit) throws ElfFormatException {
    for (int step : passes) {
      if (step >= 0) {
        in.skip(step, "an entry");
      } else if (step == ~Form.EXPRLOC) {
        in.skip(in.unsigned(), "an entry"); // where a variable is: the most frequent by far
      } else {
        Form.read(in, ~step, unit);
      }
    }
    if (leaf) {
      in.skipTo(unit.start() + in.numberBefore(SIBLING_BYTES));
    }
  }
}
