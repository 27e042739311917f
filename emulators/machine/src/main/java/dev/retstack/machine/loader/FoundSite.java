package dev.retstack.machine.loader;

import dev.retstack.schema.record.FunctionName;
import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.Locale;

/**
 * A call site as the file has it: to be shown, or to be changed.
 *
 * @param address of the call, which is the function's selfpc, or of the first nop
 * @param names of the function that has it: the one that holds the address, or whose nops stand in
 *     front of it; an empty one where no symbol has it
 * @param offset of the address from the function's first instruction; negative in front of it
 * @param convention whose call or nops it is; empty where the bytes are of none
 * @param state what stands there
 * @param form the instructions, as an assembler prints them
 * @param start of the site: the address, or what stands in front of the call for it alone (ppc64
 *     {@code mflr}, ARM {@code push})
 * @param bytes from {@code start} on: of the call or of all nops; of what stands there, where it is
 *     neither
 * @param knowledge who says that it is a site
 * @param entered where its function is entered
 * @param tableEntry what the table says: another address than {@code address} where it counts
 *     instructions in front of the call to the site (s390x); {@code address} without a table
 */
public record FoundSite(
    long address,
    FunctionName names,
    long offset,
    String convention,
    State state,
    String form,
    long start,
    ByteList bytes,
    Knowledge knowledge,
    Entered entered,
    long tableEntry) {

  /** Where the function of a site is entered. */
  public enum Entered {
    /** At the site. */
    SITE,
    /** At its first instruction: what stands between that and the site is not read. */
    FIRST,
    /** Nowhere: nothing shows the return address, and no symbol its first instruction. */
    UNTRACED;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What stands at a site. */
  public enum State {
    /** A call of the counting function. */
    CALL,
    /** Nops, where a call may be put. */
    NOP,
    /** Something else: nothing may be written there. */
    UNKNOWN;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The source that says that there is a site. The first of these that does counts. */
  public enum Knowledge {
    /** Section {@code __mcount_loc} (gcc -mrecord-mcount). */
    MCOUNT_LOC,
    /** Section {@code __patchable_function_entries} (gcc -fpatchable-function-entry). */
    PATCHABLE,
    /** No table: a relocation of the code against the counting function. */
    RELOCATION,
    /** Neither: the code calls the counting function there. */
    SCAN;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The name of the function that is shown; empty where no symbol has it. */
  public String function() {
    return names.shown();
  }

  @Override
  public String toString() {
    return "0x%x %s+%d %s".formatted(address, function(), offset, form);
  }
}
