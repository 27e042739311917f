package dev.retstack.machine.loader.elf;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.CodeAddresses;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.ArrayList;
import java.util.List;

/**
 * The functions that use the second instruction set, on ISAs that have two. The value of such a
 * function's symbol, and {@code e_entry}, is what to jump to: bit 0 names the set (ELF for the Arm
 * Architecture, 5.5.3 "Symbol Values"). The reader takes the bit off and remembers it, so that
 * symbols are addresses.
 */
final class InstructionSets {
  private final CodeAddresses addresses;
  private final LongSet second = new LongOpenHashSet();

  /** Instruction sets of a file. */
  InstructionSets(ElfHeader header) {
    this.addresses = header.isa().map(Isa::addresses).orElse(CodeAddresses.PLAIN);
  }

  /** The symbols, those of functions at the address of their first instruction. */
  List<Symbol> resolve(List<Symbol> symbols) {
    List<Symbol> resolved = new ArrayList<>(symbols.size());
    for (Symbol s : symbols) {
      long address = s.kind().isFunction() ? instruction(s.address()) : s.address();
      resolved.add(address == s.address() ? s : s.movedTo(address));
    }
    return resolved;
  }

  /** The address of the instruction that a jump to {@code target} goes to. */
  long instruction(long target) {
    long address = addresses.instruction(target);
    if (address != target) {
      second.add(address);
    }
    return address;
  }

  /** True where the function that begins at an address is of the second instruction set. */
  boolean second(long function) {
    return second.contains(function);
  }
}
