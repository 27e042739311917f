package dev.retstack.machine.isa.system;

import dev.retstack.machine.isa.call.Code;
import it.unimi.dsi.fastutil.bytes.ByteList;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a program of an ISA needs that is linked with shared objects: where they are on a host, and
 * how it calls them.
 *
 * @param sysroots where a host may have the shared objects of the ISA
 * @param jump reads the code by which a direct call reaches a function of another file; empty where
 *     such calls are not found
 * @param linkageLead what that code must do first, also if the function does nothing
 * @param leafReturn code of a function that does nothing, in the order of memory
 * @param secondLeafReturn the same in the second instruction set; empty where there is one only
 * @param tableBase finds the global offset table by the code that uses it; empty where its symbol
 *     or section says where it is
 * @param localValuesInAddends true where loaders take the value of a local symbol from the addend
 *     of the relocation, and not from the table of symbols
 */
public record DynamicAbi(
    List<Sysroot> sysroots,
    Optional<ImportJump> jump,
    ByteList linkageLead,
    ByteList leafReturn,
    ByteList secondLeafReturn,
    Optional<TableBase> tableBase,
    boolean localValuesInAddends) {
  /**
   * What the start-up code of {@code gcc -pg} calls to begin and end a profile: there is nothing to
   * profile, and no gmon.out to write.
   */
  public static final List<String> PROFILING =
      List.of("__monstartup", "monstartup", "_mcleanup", "moncontrol");

  /** An ISA whose programs cannot have shared objects here. */
  public static final DynamicAbi NONE = none(new byte[0]);

  /**
   * A folder that holds the shared objects of an ISA as its own root folder would.
   *
   * @param triplet of the toolchain; the folder is {@code /usr/TRIPLET}
   * @param debianPackage that makes it
   * @param loader file name of the interpreter that programs for it name; empty where the ISA has
   *     one sysroot only
   */
  public record Sysroot(String triplet, String debianPackage, String loader) {
    /** True where a program with this interpreter may be for it. */
    public boolean mayHave(String interpreter) {
      return loader.isEmpty() || interpreter.endsWith("/" + loader);
    }

    /** The folder. */
    public String folder() {
      return "/usr/" + triplet;
    }
  }

  /** Reads an entry of the procedure linkage table, by the psABI of the ISA. */
  @FunctionalInterface
  public interface ImportJump {
    /**
     * The word whose contents the code at an address jumps to; empty for other code.
     *
     * @param got what the register of the global offset table holds, where the code needs it; 0
     *     where that is not known
     */
    OptionalLong slot(Code code, long address, long got);
  }

  /** Reads what the code of a program takes for its global offset table. */
  @FunctionalInterface
  public interface TableBase {
    /**
     * What the register of the table holds in functions that set it; empty where none does.
     *
     * @param code instructions in the guest's byte order
     * @param address of the first one
     */
    OptionalLong of(ByteBuffer code, long address);
  }

  public DynamicAbi {
    sysroots = List.copyOf(sysroots);
  }

  /** Programs of the ISA, with the shared objects of one Debian package. */
  public static DynamicAbi of(String triplet, String debianPackage, String leafReturn) {
    byte[] code = HexFormat.of().parseHex(leafReturn.replace(" ", ""));
    return none(code).withSysroots(new Sysroot(triplet, debianPackage, ""));
  }

  /** Programs as above, whose calls of functions of other files are read. */
  public static DynamicAbi of(
      String triplet, String debianPackage, String leafReturn, ImportJump jump) {
    return of(triplet, debianPackage, leafReturn).withJump(jump);
  }

  /** Programs that are linked statically; what their profiles do is overwritten all the same. */
  public static DynamicAbi none(byte[] leafReturn) {
    return new DynamicAbi(
        List.of(),
        Optional.empty(),
        ByteList.of(),
        ByteList.of(leafReturn),
        ByteList.of(),
        Optional.empty(),
        false);
  }

  /** This ABI, where programs of several ABIs have different C libraries. */
  public DynamicAbi withSysroots(Sysroot... all) {
    return new DynamicAbi(
        List.of(all),
        jump,
        linkageLead,
        leafReturn,
        secondLeafReturn,
        tableBase,
        localValuesInAddends);
  }

  private DynamicAbi withJump(ImportJump value) {
    return new DynamicAbi(
        sysroots,
        Optional.of(value),
        linkageLead,
        leafReturn,
        secondLeafReturn,
        tableBase,
        localValuesInAddends);
  }

  /** This ABI, with code that must run on the way to any function of another file. */
  public DynamicAbi withLinkageLead(byte[] code) {
    return new DynamicAbi(
        sysroots,
        jump,
        ByteList.of(code),
        leafReturn,
        secondLeafReturn,
        tableBase,
        localValuesInAddends);
  }

  /** This ABI, with code of a function that does nothing in the second instruction set. */
  public DynamicAbi withSecondLeafReturn(byte[] code) {
    return new DynamicAbi(
        sysroots,
        jump,
        linkageLead,
        leafReturn,
        ByteList.of(code),
        tableBase,
        localValuesInAddends);
  }

  /** This ABI, where linkers do not agree about the place that the register points to. */
  public DynamicAbi withTableBase(TableBase base) {
    return new DynamicAbi(
        sysroots,
        jump,
        linkageLead,
        leafReturn,
        secondLeafReturn,
        Optional.of(base),
        localValuesInAddends);
  }

  /** This one with {@link #localValuesInAddends}. */
  public DynamicAbi withLocalValuesInAddends() {
    return new DynamicAbi(
        sysroots, jump, linkageLead, leafReturn, secondLeafReturn, tableBase, true);
  }
}
