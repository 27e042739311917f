package dev.retstack.fleet.core;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.machine.memory.VirtualTlb;
import dev.retstack.schema.record.EndDetail;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.UcError;
import dev.retstack.unicorn.UnicornException;
import java.util.Optional;
import java.util.function.LongFunction;

/** Describes a fault of the guest in one sentence: what, where, by which function, and the cure. */
final class GuestFaults {
  private static final int NO_ACCESS = -1;

  private final ElfFile image;
  private final VirtualTlb tlb;
  private final LongFunction<Optional<String>> sharedObjects;
  private long address;
  private int access = NO_ACCESS;

  /**
   * @param sharedObjects name the place of an address in one of them
   */
  GuestFaults(ElfFile image, VirtualTlb tlb, LongFunction<Optional<String>> sharedObjects) {
    this.image = image;
    this.tlb = tlb;
    this.sharedObjects = sharedObjects;
  }

  /** True for an error whose address {@link #onInvalidAccess} would receive. */
  static boolean isOfAccess(UnicornException error) {
    return error.error() == UcError.READ_UNMAPPED || error.error() == UcError.WRITE_UNMAPPED;
  }

  /** An access failed; the engine reports the address only while it happens. */
  boolean onInvalidAccess(int type, long at, int size, long value) {
    unmapped(type, at);
    return false;
  }

  /** An access failed where nothing is mapped. */
  void unmapped(int type, long at) {
    access = type;
    address = at;
  }

  /** Forgets the access that failed: the program continues. */
  void forget() {
    access = NO_ACCESS;
  }

  /** Address of the access that failed. */
  long address() {
    return address;
  }

  /** The sentence for an error of the engine. */
  String describe(UnicornException error, long pc) {
    String by = EndDetail.byPc(symbol(pc));
    if (error.error() == UcError.INSN_INVALID) {
      return "instruction that does not exist in the emulated processor"
          + by
          + ": if it is one of an extension (x86: AVX), compile without it or without -march=native";
    }
    if (access != NO_ACCESS) {
      return "unmapped %s at 0x%x%s: is the pointer wrong? memory of the board: add --ram BASE:SIZE"
          .formatted(noun(access), address, by);
    }
    if (tlb.refusedAccess() != NO_ACCESS) {
      return refused(tlb.refusedAddress(), tlb.refusedAccess(), by, pc);
    }
    return error.getMessage() + by;
  }

  private String refused(long page, int type, String by, long pc) {
    if (type != UcConst.UC_MEM_FETCH) {
      return "%s of page 0x%x, which is protected against it,%s"
          .formatted(noun(type), GuestMemory.pageDown(page), by);
    }
    return GuestMemory.pageDown(page) == GuestMemory.pageDown(pc)
        ? "jump to 0x%x, which is not code".formatted(pc)
        : "cpu exception%s, and no handler for it at 0x%x: is the instruction one of this isa?"
            .formatted(by, page);
  }

  private static String noun(int type) {
    return switch (type) {
      case UcConst.UC_MEM_READ, UcConst.UC_MEM_READ_UNMAPPED, UcConst.UC_MEM_READ_PROT -> "read";
      case UcConst.UC_MEM_WRITE, UcConst.UC_MEM_WRITE_UNMAPPED, UcConst.UC_MEM_WRITE_PROT ->
          "write";
      default -> "fetch";
    };
  }

  /** {@code main+0x14 (0x100f54)}. */
  String symbol(long pc) {
    return sharedObjects
        .apply(pc)
        .or(() -> image.functionAt(pc).map(f -> "%s+0x%x".formatted(f.name(), pc - f.address())))
        .map(place -> "%s (0x%x)".formatted(place, pc))
        .orElseGet(() -> "0x%x".formatted(pc));
  }

  /** {@code lock (0x404080)}. */
  String data(long address) {
    return image.objects().stream()
        .filter(o -> Long.compareUnsigned(address - o.address(), o.size()) < 0)
        .map(o -> "%s (0x%x)".formatted(o.name(), address))
        .findFirst()
        .orElseGet(() -> "0x%x".formatted(address));
  }
}
