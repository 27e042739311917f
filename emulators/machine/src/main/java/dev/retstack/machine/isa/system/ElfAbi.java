package dev.retstack.machine.isa.system;

import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * What is special in the ELF files of an ISA.
 *
 * @param machine {@code e_machine}
 * @param machineName what messages call that number, which ISAs of one family may share; {@code %d}
 *     for bits of a word
 * @param relocationTypeBits how many bits of {@code r_info} are the relocation's type where words
 *     have 64 bits; 32 unless the psABI puts more than one type there
 * @param localEntries true for the {@code e_flags} of files whose {@code st_other} says where calls
 *     of the same program enter a function
 * @param foreign ABIs with the same {@code e_machine} that are not traced
 * @param implicitSlots words that get addresses without a relocation; empty where none do
 */
public record ElfAbi(
    int machine,
    String machineName,
    int relocationTypeBits,
    IntPredicate localEntries,
    List<ForeignAbi> foreign,
    Optional<ImplicitSlots> implicitSlots) {

  /**
   * The global offset table has a word for each of the last dynamic symbols, in their order, which
   * no relocation names.
   *
   * @param firstSymbol tag of the dynamic section: number of the first of these symbols
   * @param wordsBefore tag of the dynamic section: words of the table in front of theirs
   */
  public record ImplicitSlots(int firstSymbol, int wordsBefore) {}

  /**
   * An ABI that shares an ISA's {@code e_machine} and is not traced: its call sites or its stack
   * differ from what the cards say, so a trace of it would be wrong without any sign.
   *
   * @param wordBytes 4 or 8, by the ELF class
   * @param order the byte order that it has; empty where it has either
   * @param mask bits of {@code e_flags} that identify it; 0 = class and byte order are enough
   * @param value of these bits
   * @param name of the ABI
   * @param cure how to compile for one that is traced
   */
  public record ForeignAbi(
      int wordBytes, Optional<ByteOrder> order, int mask, int value, String name, String cure) {

    /** An ABI that the ELF class alone identifies. */
    public static ForeignAbi byClass(int wordBytes, String name, String cure) {
      return byFlags(wordBytes, 0, 0, name, cure);
    }

    /** An ABI that {@code e_flags} identify, in either byte order. */
    public static ForeignAbi byFlags(int wordBytes, int mask, int value, String name, String cure) {
      return new ForeignAbi(wordBytes, Optional.empty(), mask, value, name, cure);
    }

    /** This ABI, in one byte order only. */
    public ForeignAbi only(ByteOrder which) {
      return new ForeignAbi(wordBytes, Optional.of(which), mask, value, name, cure);
    }

    public boolean is(int fileWordBytes, ByteOrder fileOrder, int flags) {
      return fileWordBytes == wordBytes
          && order.orElse(fileOrder).equals(fileOrder)
          && (flags & mask) == value;
    }
  }

  public ElfAbi {
    foreign = List.copyOf(foreign);
  }

  /** Files as the gABI has them. */
  public static ElfAbi plain(int machine, String machineName, ForeignAbi... foreign) {
    return new ElfAbi(
        machine, machineName, Integer.SIZE, flags -> false, List.of(foreign), Optional.empty());
  }

  /** The relocation's type in the low half of {@code r_info}. */
  public int relocationType(int info) {
    return relocationTypeBits == Integer.SIZE ? info : info & ((1 << relocationTypeBits) - 1);
  }
}
