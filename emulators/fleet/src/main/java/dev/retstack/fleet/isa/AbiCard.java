package dev.retstack.fleet.isa;

import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One convention of calling the counting function, as data: all that a probe must know. The moment
 * "at entry" is before the first instruction of the counting function, the moment "at exit" is
 * before the first instruction of a handler slot of the landing page.
 */
public final class AbiCard {

  /** When the counting function is called. */
  public enum Moment {
    /** Before the function has made its frame. */
    BEFORE_PROLOGUE,
    /** When the function has made its frame. */
    AFTER_PROLOGUE
  }

  private final String name;
  private final String flags;
  private final Moment moment;
  private final List<String> symbols;
  private final List<CallForm> callForms;
  private final byte[] nop;
  private final byte[] entryStub;
  private final Operand returnAddress;
  private final Operand slot;
  private final Optional<Operand> parent;
  private final Operand fpAtEntry;
  private final Operand fpAtExit;
  private final boolean fpCheck;
  private final Optional<Operand> retpAtExit;
  private final OptionalLong slotFromFp;
  private final String remark;

  private AbiCard(Builder b) {
    name = b.name;
    flags = b.flags;
    moment = b.moment;
    symbols = List.copyOf(b.symbols);
    callForms = List.copyOf(b.callForms);
    nop = b.nop.clone();
    entryStub = b.entryStub.clone();
    returnAddress = b.returnAddress;
    slot = b.slot;
    parent = Optional.ofNullable(b.parent);
    fpAtEntry = b.fpAtEntry;
    fpAtExit = b.fpAtExit;
    fpCheck = b.fpCheck;
    retpAtExit = Optional.ofNullable(b.retpAtExit);
    slotFromFp = b.slotFromFp;
    remark = b.remark;
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

  /** Names that toolchains give the counting function; the first is the usual one. */
  public List<String> symbols() {
    return symbols;
  }

  /** The calls by which functions reach it; a longer form stands before a shorter one. */
  public List<CallForm> callForms() {
    return callForms;
  }

  /** The bytes of a call site that is switched off. */
  public byte[] nop() {
    return nop.clone();
  }

  /** Code that the counting function is overwritten with: it returns at once. */
  public byte[] entryStub() {
    return entryStub.clone();
  }

  /** At entry: where the counting function returns to. selfpc lies a call below it. */
  public Operand returnAddress() {
    return returnAddress;
  }

  /** At entry: the address of the slot that holds the function's return address (retp). */
  public Operand slot() {
    return slot;
  }

  /**
   * At entry: a second place with the function's return address. Where the slot holds something
   * else, it is not the slot, and the entry is left alone.
   */
  public Optional<Operand> parent() {
    return parent;
  }

  /** At entry: the caller's frame pointer. */
  public Operand fpAtEntry() {
    return fpAtEntry;
  }

  /** At exit: the caller's frame pointer. */
  public Operand fpAtExit() {
    return fpAtExit;
  }

  /** True where the two frame pointers must be equal. */
  public boolean fpCheck() {
    return fpCheck;
  }

  /** At exit: the slot as the stack pointer foretells it, where the convention is exact. */
  public Optional<Operand> retpAtExit() {
    return retpAtExit;
  }

  /**
   * A caller's slot minus its frame pointer, where every instrumented function keeps a frame: tells
   * which frame called, when a longjmp left dead ones on ret_stack and the slot of the new one lies
   * below theirs.
   */
  public OptionalLong slotFromFp() {
    return slotFromFp;
  }

  /** One sentence for a human reader of the capability table. */
  public String remark() {
    return remark;
  }

  @Override
  public String toString() {
    return name;
  }

  static Builder named(String name) {
    return new Builder(name);
  }

  /** Collects a card; every setter is one line of it. */
  static final class Builder {
    private final String name;
    private String flags;
    private Moment moment;
    private List<String> symbols;
    private List<CallForm> callForms;
    private byte[] nop;
    private byte[] entryStub;
    private Operand returnAddress;
    private Operand slot;
    private Operand parent;
    private Operand fpAtEntry;
    private Operand fpAtExit;
    private boolean fpCheck;
    private Operand retpAtExit;
    private OptionalLong slotFromFp = OptionalLong.empty();
    private String remark = "";

    private Builder(String name) {
      this.name = name;
    }

    Builder flags(String value) {
      flags = value;
      return this;
    }

    Builder moment(Moment value) {
      moment = value;
      return this;
    }

    Builder symbols(String... values) {
      symbols = List.of(values);
      return this;
    }

    Builder callForms(CallForm... values) {
      callForms = List.of(values);
      return this;
    }

    Builder nop(String hex) {
      nop = bytes(hex);
      return this;
    }

    Builder entryStub(String hex) {
      entryStub = bytes(hex);
      return this;
    }

    Builder returnAddress(Operand value) {
      returnAddress = value;
      return this;
    }

    Builder slot(Operand value) {
      slot = value;
      return this;
    }

    Builder parent(Operand value) {
      parent = value;
      return this;
    }

    /** The frame pointer to note at entry and to find again at exit. */
    Builder fpMustAgree(Operand atEntry, Operand atExit) {
      fpAtEntry = atEntry;
      fpAtExit = atExit;
      fpCheck = true;
      return this;
    }

    Builder retpAtExit(Operand value) {
      retpAtExit = value;
      return this;
    }

    Builder slotFromFp(long value) {
      slotFromFp = OptionalLong.of(value);
      return this;
    }

    Builder remark(String value) {
      remark = value;
      return this;
    }

    AbiCard build() {
      return new AbiCard(this);
    }

    private static byte[] bytes(String hex) {
      return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
  }
}
