package dev.retstack.fleet.core;

import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.loader.Imports;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.memory.GuestMemory;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Gives a program the stand-ins of functions that the tracer replaces, before its loader runs:
 * writes their code, and that the program defines them there itself. A symbol of hidden visibility
 * is looked up nowhere else (System V gABI, chapter 4, "Symbol Table").
 */
final class StandIns {
  /** More than a return of any ISA. */
  private static final int LEAST_BYTES = 8;

  /** Where a stand-in has its descriptor, for ISAs whose symbols of functions name one. */
  private static final int DESCRIPTOR = Imports.STAND_IN_BYTES / 2;

  /**
   * {@code st_info}, without a type: a loader may take the value of a function for the address of
   * code that looks it up (MIPS).
   */
  private static final byte LOCAL = 0;

  private static final byte GLOBAL = 1 << 4;
  private static final byte HIDDEN = 2;

  /** Any section: the symbol's value is an address that moves with the program. */
  private static final short DEFINED = 1;

  private final GuestMemory memory;
  private final byte info;
  private final boolean wide;
  private final boolean descriptors;

  private StandIns(LoadedImage image, GuestMemory memory) {
    this.memory = memory;
    // hidden is enough for glibc; musl, which does not know such addends, looks for what is global
    info = image.isa().syscalls().dynamic().localValuesInAddends() ? GLOBAL : LOCAL;
    wide = memory.wordBytes() == Long.BYTES;
    descriptors = image.isa().interrupts().tocRegister() != Registers.NONE;
  }

  /** Those of an image whose segments are mapped. */
  static void write(LoadedImage image, GuestMemory memory) {
    Imports imports = image.imports();
    if (image.elf().interpreter().isEmpty()) {
      if (image.hostedOnLinux()) {
        endProfiles(image, memory);
      }
      return;
    }
    List<Symbol> all = imports.standIns();
    if (all.isEmpty()) {
      return;
    }
    StandIns made = new StandIns(image, memory);
    memory.map(imports.page(), GuestMemory.PAGE, GuestMemory.READ | GuestMemory.WRITE);
    all.forEach(standIn -> made.write(standIn.address(), imports.leafReturn()));
    made.define(image, image.elf(), 0, image.elf().bias());
    memory.protect(imports.page(), GuestMemory.PAGE, GuestMemory.READ | GuestMemory.EXECUTE);
  }

  private void write(long address, byte[] code) {
    memory.write(address, code);
    if (descriptors) {
      memory.writeWord(address + DESCRIPTOR, address);
    }
  }

  /**
   * In a program without shared objects the functions that begin and end a profile return at once:
   * else they would ask for a timer, and write gmon.out.
   */
  private static void endProfiles(LoadedImage image, GuestMemory memory) {
    for (String name : DynamicAbi.PROFILING) {
      image
          .elf()
          .symbol(name)
          .filter(f -> f.kind() == Symbol.Kind.FUNCTION && f.size() >= LEAST_BYTES)
          .filter(f -> image.elf().executableAt(f.address()))
          .filter(f -> nothing(image, f).length > 0)
          .filter(f -> image.callSites().stream().noneMatch(site -> f.holds(site)))
          .filter(f -> memory.isMapped(f.address(), LEAST_BYTES))
          .ifPresent(f -> memory.write(f.address(), nothing(image, f)));
    }
  }

  /** Code of a function that does nothing, in the instruction set of a function. */
  private static byte[] nothing(LoadedImage image, Symbol function) {
    return image.elf().secondInstructionSet(function.address())
        ? image.isa().syscalls().dynamic().secondLeafReturn().toByteArray()
        : image.imports().leafReturn();
  }

  /**
   * Those of the program for a shared object that was mapped, and was not linked yet.
   *
   * @param bias what is added to its addresses
   */
  static void write(LoadedImage image, LoadedImage shared, long bias, GuestMemory memory) {
    new StandIns(image, memory).define(image, shared.elf(), bias, bias);
  }

  /**
   * Says of each import of a file which stand-in of the program it is.
   *
   * @param base what the file's own addresses are counted from
   */
  private void define(LoadedImage program, ElfFile file, long bias, long base) {
    for (ElfFile.Import wanted : file.imports()) {
      program.imports().standIns().stream()
          .filter(standIn -> standIn.name().equals(wanted.name()))
          .findFirst()
          .ifPresent(standIn -> define(file, wanted.symbolAddress(), bias, value(standIn) - base));
    }
  }

  /** What names a stand-in. */
  private long value(Symbol standIn) {
    return standIn.address() + (descriptors ? DESCRIPTOR : 0);
  }

  /**
   * Makes an undefined symbol one of the program; only where the table stands that the file has: a
   * file can lie of its place.
   *
   * @param inFile address of the symbol, as the file has it
   */
  private void define(ElfFile elf, long inFile, long bias, long value) {
    int size = wide ? 24 : 16;
    long symbol = inFile + bias;
    boolean there =
        memory.isMapped(symbol, size)
            && elf.memory(inFile, size)
                .filter(bytes -> bytes.equals(ByteBuffer.wrap(memory.read(symbol, size))))
                .isPresent();
    if (!there) {
      return;
    }
    memory.writeByte(symbol + (wide ? 4 : 12), info);
    // all of st_other: a stand-in has no local entry
    memory.writeByte(symbol + (wide ? 5 : 13), HIDDEN);
    memory.writeShort(symbol + (wide ? 6 : 14), DEFINED);
    memory.writeWord(symbol + (wide ? 8 : 4), value);
  }
}
