package dev.retstack.machine.landing;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.machine.memory.VirtualTlb;
import dev.retstack.unicorn.Unicorn;
import java.util.ArrayList;
import java.util.List;

/**
 * What the parts of one core share.
 *
 * @param image what it runs
 * @param engine that runs it
 * @param memory of the guest, with the image in it
 * @param tlb shows that memory to the engine
 * @param landing where hijacked returns arrive
 * @param trampolines where those of the probe in C arrive
 */
public record Machine(
    LoadedImage image,
    Unicorn engine,
    GuestMemory memory,
    VirtualTlb tlb,
    LandingPage landing,
    Trampolines trampolines) {

  /** The instruction set of the image. */
  public Isa isa() {
    return image.isa();
  }

  /** The bits of an address of the guest. */
  public long wordMask() {
    return isa().wordBytes() == Long.BYTES ? -1 : 0xffff_ffffL;
  }

  /**
   * The code of a function that is called by its address: where functions are named by descriptors,
   * what the one says, and its TOC into the register.
   */
  public long entry(long function) {
    InterruptAbi abi = isa().interrupts();
    boolean isCode = abi.tocRegister() == Registers.NONE || image.elf().executableAt(function);
    if (isCode || !memory.isMapped(function, 2L * isa().wordBytes())) {
      return function;
    }
    engine.reg_write(abi.tocRegister(), memory.readWord(function + isa().wordBytes()));
    return memory.readWord(function);
  }

  /** Guest addresses that the tracer keeps for itself. */
  public List<LandingPage.Range> tracers() {
    List<LandingPage.Range> ranges = new ArrayList<>(landing.ranges());
    if (trampolines.start() != 0) {
      ranges.add(new LandingPage.Range(trampolines.start(), Trampolines.BYTES));
    }
    return ranges;
  }
}
