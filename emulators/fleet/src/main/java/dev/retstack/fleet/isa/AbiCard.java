package dev.retstack.fleet.isa;

import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One convention of instrumenting function entries, as data: all that a probe must know.
 *
 * <p>"At entry" is before the first instruction of the counting function. Where functions call none
 * (nops for a call that may be put there), it is before the first instruction of the function. "At
 * exit" is before the first instruction of a handler slot of the landing page.
 */
public final class AbiCard {

  /** When the counting function is called. */
  public enum Moment {
    /** Before the function has made its frame. */
    BEFORE_PROLOGUE,
    /** When the function has made its frame. */
    AFTER_PROLOGUE
  }

  /** Where a compiler lists call sites that are nops. */
  public enum SiteTable {
    /** Sites are calls, found by their bytes. */
    NONE("calls"),
    /** Section {@code __patchable_function_entries} (gcc -fpatchable-function-entry). */
    PATCHABLE("__patchable_function_entries"),
    /** Section {@code __mcount_loc} (gcc -mrecord-mcount). */
    MCOUNT_LOC("__mcount_loc");

    private final String section;

    SiteTable(String section) {
      this.section = section;
    }

    @Override
    public String toString() {
      return section;
    }
  }

  private final String name;
  private final String flags;
  private final Moment moment;
  private final SiteTable siteTable;
  private final List<byte[]> siteNops;
  private final Prologue prologue;
  private final List<String> symbols;
  private final List<CallForm> callForms;
  private final List<CallRelocation> callRelocations;
  private final List<Filler> nops;
  private final List<Lead> leads;
  private final byte[] entryStub;
  private final byte[] secondEntryStub;
  private final Optional<Operand> returnAddress;
  private final List<Slot> slots;
  private final Optional<Operand> parent;
  private final Optional<Operand> fpAtEntry;
  private final Optional<Operand> fpAtExit;
  private final List<Operand> retpAtExit;
  private final List<Operand> arguments;
  private final OptionalLong slotFromFp;
  private final boolean framesEverywhere;
  private final Optional<AbiCard> atSite;
  private final String remark;

  AbiCard(AbiCardBuilder b) {
    name = b.name;
    flags = b.flags;
    moment = b.moment;
    siteTable = b.siteTable;
    siteNops = List.copyOf(b.siteNops);
    prologue = b.prologue;
    symbols = List.copyOf(b.symbols);
    callForms = List.copyOf(b.callForms);
    callRelocations = List.copyOf(b.callRelocations);
    nops = List.copyOf(b.nops);
    leads = List.copyOf(b.leads);
    entryStub = b.entryStub.clone();
    secondEntryStub = b.secondEntryStub.clone();
    returnAddress = Optional.ofNullable(b.returnAddress);
    slots = List.copyOf(b.slots);
    parent = Optional.ofNullable(b.parent);
    fpAtEntry = Optional.ofNullable(b.fpAtEntry);
    fpAtExit = Optional.ofNullable(b.fpAtExit);
    retpAtExit = List.copyOf(b.retpAtExit);
    arguments = List.copyOf(b.arguments);
    slotFromFp = b.slotFromFp;
    framesEverywhere = b.framesEverywhere;
    atSite = Optional.ofNullable(b.atSite);
    remark = b.remark;
    if (slots.isEmpty() || (siteTable == SiteTable.NONE) != returnAddress.isPresent()) {
      throw new IllegalStateException(
          "card %s: needs a slot, and either calls with a return address or a table of sites"
              .formatted(name));
    }
  }

  /** Name of the convention: {@code fentry}, {@code mcount}, ... */
  public String name() {
    return name;
  }

  /** Compiler flags that make it, for messages. */
  public String flags() {
    return flags;
  }

  public Moment moment() {
    return moment;
  }

  /** Where sites without a call are listed; NONE where functions call a counting function. */
  public SiteTable siteTable() {
    return siteTable;
  }

  /** The instructions that a site without a call may begin with. */
  public List<byte[]> siteNops() {
    return siteNops.stream().map(byte[]::clone).toList();
  }

  /** What tells whether a site is of this convention, and where its return address is. */
  public Prologue prologue() {
    return prologue;
  }

  /** Names that toolchains give the counting function; the first is the usual one. */
  public List<String> symbols() {
    return symbols;
  }

  /** The calls by which functions reach it; a longer form stands before a shorter one. */
  public List<CallForm> callForms() {
    return callForms;
  }

  /** The relocations of such calls in an object; of two that fit the first one counts. */
  public List<CallRelocation> callRelocations() {
    return callRelocations;
  }

  /** The instruction that does what is left to do where the call is not made: mostly nothing. */
  public byte[] nop() {
    return nops.getFirst().over(new byte[nops.getFirst().size()]);
  }

  /**
   * What takes the place of a call site, as long as it and of as many instructions; empty where
   * there is nothing of that length. A delay slot that works for the function stays.
   *
   * @param site the call, or the call with what stands in front of it for it alone
   */
  public Optional<byte[]> nop(byte[] site) {
    return leads.stream()
        .filter(lead -> lead.begins(site))
        .map(Lead::nop)
        .findFirst()
        .or(() -> nops.stream().filter(nop -> nop.size() == site.length).findFirst())
        .or(() -> Optional.of(nops.getFirst()).filter(nop -> site.length % nop.size() == 0))
        .map(nop -> nop.over(site));
  }

  /**
   * call_adjust: from a call to the first byte of its site. Instructions in front of a call that
   * serve it alone are patched with it.
   *
   * @param code the program, as its file has it
   * @param call address of the call
   */
  public long callAdjust(Code code, long call) {
    return leads.stream()
        .filter(lead -> lead.precedes(code, call))
        .findFirst()
        .map(lead -> call - lead.code().size())
        .orElse(call);
  }

  /**
   * A site with what stands in front of its call for it alone.
   *
   * @param text the instructions, as an assembler prints them; empty where all are nops
   * @param code all of it, or of a call what is in front of it
   * @param lead bytes in front of the place of the call
   */
  public record WholeSite(String text, ByteList code, int lead) {}

  /** What a site with a lead may be when it is switched off: all nops, or the call alone. */
  public List<WholeSite> switchedOff() {
    List<WholeSite> all = new ArrayList<>();
    for (Lead lead : leads) {
      for (CallForm form : callForms) {
        byte[] kept = Arrays.copyOf(lead.code().toByteArray(), lead.code().size() + form.size());
        byte[] call = nop(new byte[form.size()]).orElseThrow();
        System.arraycopy(call, 0, kept, lead.code().size(), call.length);
        all.add(new WholeSite("", ByteList.of(lead.nops(form.size())), lead.code().size()));
        all.add(new WholeSite(lead.text() + "; no call", ByteList.of(kept), lead.code().size()));
      }
    }
    return all;
  }

  /** What may stand in front of a call for it alone. */
  public List<WholeSite> leadIns() {
    return leads.stream()
        .map(lead -> new WholeSite(lead.text(), lead.code(), lead.code().size()))
        .toList();
  }

  /** Bytes in front of the call in a site of {@link #callAdjust}. */
  int leadBytes(byte[] site) {
    return leads.stream()
        .filter(lead -> lead.begins(site))
        .findFirst()
        .map(lead -> lead.code().size())
        .orElse(0);
  }

  /**
   * Code that the counting function is overwritten with: it returns at once.
   *
   * @param secondSet true where the counting function is of the ISA's second instruction set
   */
  public byte[] entryStub(boolean secondSet) {
    return (secondSet ? secondEntryStub : entryStub).clone();
  }

  /**
   * At entry: where the counting function returns to; selfpc lies a call below it. Empty where
   * there is no such function: selfpc is the site.
   */
  public Optional<Operand> returnAddress() {
    return returnAddress;
  }

  /** At entry: the places that may hold the function's return address; the first that applies. */
  public List<Slot> slots() {
    return slots;
  }

  /**
   * At entry: a second place with the function's return address. Where a slot in memory holds
   * something else, it is not the slot, and the entry is left alone.
   */
  public Optional<Operand> parent() {
    return parent;
  }

  /** At entry: the caller's frame pointer; empty where it cannot be had, fp is 0 then. */
  public Optional<Operand> fpAtEntry() {
    return fpAtEntry;
  }

  /** At exit: the caller's frame pointer; empty where it cannot be had, fp is 0 then. */
  public Optional<Operand> fpAtExit() {
    return fpAtExit;
  }

  /** True where the two frame pointers must be equal. */
  public boolean fpCheck() {
    return fpAtEntry.isPresent() && fpAtExit.isPresent();
  }

  /**
   * At exit: the slot as the stack pointer foretells it, where the convention is exact; several
   * where functions differ, of which one must be right.
   */
  public List<Operand> retpAtExit() {
    return retpAtExit;
  }

  /**
   * At entry: the function's first arguments, as far as integers and pointers go. Empty where the
   * convention does not leave them: calls of an ordinary function overwrite them.
   */
  public List<Operand> arguments() {
    return arguments;
  }

  /** True where retp at exit is exact. */
  public boolean retpCheck() {
    return !retpAtExit.isEmpty();
  }

  /**
   * At exit: how far above the stack pointer the slot lies at most; 0 where it lies below, or where
   * the stack pointer does not tell.
   */
  public long slotAboveStack(int stackPointer) {
    return retpAtExit.stream()
        .filter(operand -> operand.register() == stackPointer && !operand.inMemory())
        .mapToLong(operand -> Math.max(0, operand.offset()))
        .max()
        .orElse(0);
  }

  /**
   * A caller's slot minus its frame pointer, for functions that keep a frame: tells which frame
   * called, when a longjmp left dead ones on ret_stack and the slot of the new one lies below
   * theirs.
   */
  public OptionalLong slotFromFp() {
    return slotFromFp;
  }

  /**
   * True where {@link #slotFromFp} holds for every instrumented function; else the site's facts
   * tell.
   */
  public boolean framesEverywhere() {
    return framesEverywhere && slotFromFp.isPresent();
  }

  /**
   * The card that holds where a function is entered at its nops and not at its first instruction,
   * since a block ends between the two; empty where this one does.
   */
  public Optional<AbiCard> atSite() {
    return atSite;
  }

  /** One sentence for a human reader of the capability table. */
  public String remark() {
    return remark;
  }

  @Override
  public String toString() {
    return name;
  }

  static AbiCardBuilder named(String name) {
    return new AbiCardBuilder(name);
  }
}
