package dev.retstack.machine.isa.call;

import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One convention of instrumenting function entries, as data: all that a probe must know.
 *
 * <p>"At entry" is before the first instruction of the counting function. If functions call none,
 * since nops keep the place of a call, it is before the first instruction of the function. "At
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

  /**
   * Code that takes the place of a call, in the order of memory.
   *
   * @param hex bytes in hex, divided by blanks; {@code ..} for one that stays as it is in the call,
   *     such as a delay slot
   */
  private record Filler(String hex) {
    private static final String STAYS = "..";

    static Filler of(String hex) {
      return new Filler(hex.contains(" ") ? hex : hex.replaceAll("..(?=.)", "$0 "));
    }

    private String[] each() {
      return hex.split(" ", -1);
    }

    int size() {
      return each().length;
    }

    /** These bytes in place of others, again and again up to their end. */
    byte[] over(byte[] call) {
      String[] each = each();
      byte[] filled = call.clone();
      for (int i = 0; i < filled.length; i++) {
        String wanted = each[i % each.length];
        if (!wanted.equals(STAYS)) {
          filled[i] = (byte) Integer.parseInt(wanted, 16);
        }
      }
      return filled;
    }
  }

  /**
   * Instructions in front of a call of the counting function that serve it alone: with the call
   * they are one site, to be switched off together.
   *
   * @param text as an assembler prints them
   * @param code in the order of memory, at most 8 bytes
   * @param nop what takes the place of the whole site, again and again
   */
  private record Lead(String text, ByteList code, Filler nop) {
    /** A site that is all nops. */
    byte[] nops(int callBytes) {
      return nop.over(new byte[code.size() + callBytes]);
    }

    /** True where a site begins with it, and a call follows. */
    boolean begins(byte[] site) {
      return site.length > code.size() && ByteList.of(site).subList(0, code.size()).equals(code);
    }

    /** True where it stands directly before a call. */
    boolean precedes(Code memory, long call) {
      long there = memory.at(call - code.size());
      for (int i = 0; i < code.size(); i++) {
        if ((byte) (there >>> (Byte.SIZE * i)) != code.getByte(i)) {
          return false;
        }
      }
      return true;
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
  private final List<CallForm.Relocation> callRelocations;
  private final Optional<CallForm.Target> veneer;
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
  private final OptionalInt poppingReturn;
  private final List<Operand> arguments;
  private final OptionalLong slotFromFp;
  private final boolean framesEverywhere;
  private final Optional<AbiCard> atSite;
  private final ReturnReads reads;
  private final String remark;

  private AbiCard(Builder b) {
    name = b.name;
    flags = b.flags;
    moment = b.moment;
    siteTable = b.siteTable;
    siteNops = List.copyOf(b.siteNops);
    prologue = b.prologue;
    symbols = List.copyOf(b.symbols);
    callForms = List.copyOf(b.callForms);
    callRelocations = List.copyOf(b.callRelocations);
    veneer = Optional.ofNullable(b.veneer);
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
    poppingReturn = b.poppingReturn;
    arguments = List.copyOf(b.arguments);
    slotFromFp = b.slotFromFp;
    framesEverywhere = b.framesEverywhere;
    atSite = Optional.ofNullable(b.atSite);
    reads = b.reads;
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

  /** True where functions call when they have made their frame. */
  public boolean isBehindPrologue() {
    return moment == Moment.AFTER_PROLOGUE && returnAddress.isPresent();
  }

  /** Where sites without a call are listed; NONE where functions call a counting function. */
  public SiteTable siteTable() {
    return siteTable;
  }

  /** The instructions that a site without a call may begin with. */
  public List<byte[]> siteNops() {
    return siteNops.stream().map(byte[]::clone).toList();
  }

  /** Decides whether a site is of this convention, and where its return address is. */
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
  public List<CallForm.Relocation> callRelocations() {
    return callRelocations;
  }

  /**
   * Where code of a linker leads that a call goes through, such as from one instruction set to the
   * other.
   *
   * @param address where the call goes
   * @return the same where no such code stands there
   */
  public long through(Code code, long address) {
    return veneer.map(known -> known.of(address, code.at(address))).orElse(address);
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
   * At exit: the slot as the stack pointer implies it, where the convention is exact; several where
   * functions differ, of which one must be right.
   */
  public List<Operand> retpAtExit() {
    return retpAtExit;
  }

  /**
   * The opcode, of one byte or two, of a return that pops more bytes than its address: as many as
   * the two bytes behind the opcode say. A slot then lies so much lower than the first of {@link
   * #retpAtExit}.
   */
  public OptionalInt poppingReturn() {
    return poppingReturn;
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
   * the stack pointer does not show it.
   */
  public long slotAboveStack(int stackPointer) {
    return retpAtExit.stream()
        .filter(operand -> operand.register() == stackPointer && !operand.inMemory())
        .mapToLong(operand -> Math.max(0, operand.offset()))
        .max()
        .orElse(0);
  }

  /**
   * A caller's slot minus its frame pointer, for functions that keep a frame: shows which frame
   * called, when a longjmp left dead ones on ret_stack and the slot of the new one lies below
   * theirs.
   */
  public OptionalLong slotFromFp() {
    return slotFromFp;
  }

  /**
   * True where {@link #slotFromFp} holds for every instrumented function; else see the site's
   * facts.
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

  /** Which functions read return addresses, by their code. */
  public ReturnReads reads() {
    return reads;
  }

  /** A sentence for a human reader of the capability table. */
  public String remark() {
    return remark;
  }

  @Override
  public String toString() {
    return name;
  }

  /**
   * The card of functions that are entered at their first instruction, made from one whose sites
   * are there: what the code does with a frame pointer is not known.
   */
  public AbiCard atFirstInstruction(String called) {
    return named(called)
        .flags(flags)
        .moment(Moment.BEFORE_PROLOGUE)
        .sites(siteTable)
        .slots(slots.toArray(Slot[]::new))
        .retpAtExit(retpAtExit.toArray(Operand[]::new))
        .poppingReturn(poppingReturn)
        .arguments(arguments)
        .reads(reads)
        .build();
  }

  public static Builder named(String name) {
    return new Builder(name);
  }

  /** Collects a card; every setter is one line of it. */
  public static final class Builder {
    private final String name;
    private String flags;
    private Moment moment;
    private SiteTable siteTable = SiteTable.NONE;
    private List<byte[]> siteNops = List.of();
    private Prologue prologue = Prologue.ANY;
    private List<String> symbols = List.of();
    private List<CallForm> callForms = List.of();
    private final List<CallForm.Relocation> callRelocations = new ArrayList<>();
    private CallForm.Target veneer;
    private List<Filler> nops = List.of();
    private final List<Lead> leads = new ArrayList<>();
    private byte[] entryStub = {};
    private byte[] secondEntryStub = {};
    private Operand returnAddress;
    private List<Slot> slots = List.of();
    private Operand parent;
    private Operand fpAtEntry;
    private Operand fpAtExit;
    private List<Operand> retpAtExit = List.of();
    private OptionalInt poppingReturn = OptionalInt.empty();
    private List<Operand> arguments = List.of();
    private OptionalLong slotFromFp = OptionalLong.empty();
    private boolean framesEverywhere = true;
    private AbiCard atSite;
    private ReturnReads reads = ReturnReads.UNKNOWN;
    private String remark = "";

    private Builder(String name) {
      this.name = name;
    }

    public Builder flags(String value) {
      flags = value;
      return this;
    }

    public Builder moment(Moment value) {
      moment = value;
      return this;
    }

    public Builder symbols(String... values) {
      symbols = List.of(values);
      return this;
    }

    public Builder callForms(CallForm... values) {
      callForms = List.of(values);
      return this;
    }

    /** Relocations of these types stand {@code at} bytes behind the beginning of a call. */
    public Builder callRelocations(int at, int... types) {
      IntStream.of(types).forEach(type -> callRelocations.add(new CallForm.Relocation(type, at)));
      return this;
    }

    /** Code of a linker between a call and the counting function, by its eight bytes. */
    public Builder veneer(CallForm.Target value) {
      veneer = value;
      return this;
    }

    /** What takes the place of a call: by length, or one that is repeated; see {@link Filler}. */
    public Builder nop(String... hex) {
      nops = Stream.of(hex).map(Filler::of).toList();
      return this;
    }

    /**
     * Instructions that may stand in front of a call for it alone (as text, as code), and what
     * takes the place of them and the call, again and again; a longer lead before a shorter one.
     */
    public Builder lead(String text, String hex, String nop) {
      leads.add(new Lead(text, ByteList.of(Encoding.hex(hex)), Filler.of(nop)));
      return this;
    }

    public Builder entryStub(String hex) {
      entryStub = Encoding.hex(hex);
      return this;
    }

    /** The stub where the counting function is of the ISA's second instruction set. */
    public Builder secondEntryStub(String hex) {
      secondEntryStub = Encoding.hex(hex);
      return this;
    }

    public Builder returnAddress(Operand value) {
      returnAddress = value;
      return this;
    }

    /** Instead of calls: sites of a table, which begin with one of these nops (hex). */
    public Builder sites(SiteTable table, String... nops) {
      siteTable = table;
      siteNops = Stream.of(nops).map(Encoding::hex).toList();
      this.nops = Stream.of(nops).map(Filler::of).toList();
      return this;
    }

    public Builder prologue(Prologue value) {
      prologue = value;
      return this;
    }

    /** Where the return address is; of several the first that applies. */
    public Builder slots(Slot... values) {
      slots = List.of(values);
      return this;
    }

    /** The slot is a word in memory. */
    public Builder slot(Operand address) {
      return slots(Slot.memory(address));
    }

    public Builder parent(Operand value) {
      parent = value;
      return this;
    }

    /** The frame pointer to note at entry and to find again at exit. */
    public Builder fpMustAgree(Operand atEntry, Operand atExit) {
      fpAtEntry = atEntry;
      fpAtExit = atExit;
      return this;
    }

    public Builder retpAtExit(Operand... oneOf) {
      retpAtExit = List.of(oneOf);
      return this;
    }

    public Builder poppingReturn(OptionalInt opcode) {
      poppingReturn = opcode;
      return this;
    }

    /** Arguments that are in registers. */
    public Builder arguments(int... registers) {
      arguments = IntStream.of(registers).mapToObj(Operand::register).toList();
      return this;
    }

    private Builder arguments(List<Operand> values) {
      arguments = values;
      return this;
    }

    /** Arguments that are {@code count} words on the stack, from an address on. */
    public Builder arguments(Operand first, int count, int wordBytes) {
      arguments =
          IntStream.range(0, count)
              .mapToObj(i -> Operand.word(first.register(), first.offset() + (long) i * wordBytes))
              .toList();
      return this;
    }

    public Builder slotFromFp(long value) {
      slotFromFp = OptionalLong.of(value);
      return this;
    }

    /** {@link #slotFromFp} holds only for functions whose site says that they keep a frame. */
    public Builder slotFromFpBySite(long value) {
      framesEverywhere = false;
      return slotFromFp(value);
    }

    /** The card that counts where a function is entered at its nops. */
    public Builder atSite(AbiCard value) {
      atSite = value;
      return this;
    }

    public Builder reads(ReturnReads value) {
      reads = value;
      return this;
    }

    public Builder remark(String value) {
      remark = value;
      return this;
    }

    public AbiCard build() {
      return new AbiCard(this);
    }
  }
}
