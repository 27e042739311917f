package dev.retstack.fleet.isa;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.fleet.isa.AbiCard.SiteTable;
import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Collects a card; every setter is one line of it. */
final class AbiCardBuilder {
  final String name;
  String flags;
  Moment moment;
  SiteTable siteTable = SiteTable.NONE;
  List<byte[]> siteNops = List.of();
  Prologue prologue = Prologue.ANY;
  List<String> symbols = List.of();
  List<CallForm> callForms = List.of();
  final List<CallRelocation> callRelocations = new ArrayList<>();
  List<Filler> nops = List.of();
  final List<Lead> leads = new ArrayList<>();
  byte[] entryStub = {};
  byte[] secondEntryStub = {};
  Operand returnAddress;
  List<Slot> slots = List.of();
  Operand parent;
  Operand fpAtEntry;
  Operand fpAtExit;
  List<Operand> retpAtExit = List.of();
  List<Operand> arguments = List.of();
  OptionalLong slotFromFp = OptionalLong.empty();
  boolean framesEverywhere = true;
  AbiCard atSite;
  String remark = "";

  AbiCardBuilder(String name) {
    this.name = name;
  }

  AbiCardBuilder flags(String value) {
    flags = value;
    return this;
  }

  AbiCardBuilder moment(Moment value) {
    moment = value;
    return this;
  }

  AbiCardBuilder symbols(String... values) {
    symbols = List.of(values);
    return this;
  }

  AbiCardBuilder callForms(CallForm... values) {
    callForms = List.of(values);
    return this;
  }

  /** Relocations of these types stand so many bytes behind the beginning of a call. */
  AbiCardBuilder callRelocations(int at, int... types) {
    IntStream.of(types).forEach(type -> callRelocations.add(new CallRelocation(type, at)));
    return this;
  }

  /** What takes the place of a call: by length, or one that is repeated; see {@link Filler}. */
  AbiCardBuilder nop(String... hex) {
    nops = Stream.of(hex).map(Filler::of).toList();
    return this;
  }

  /**
   * Instructions that may stand in front of a call for it alone (as text, as code), and what takes
   * the place of them and the call, again and again; a longer lead before a shorter one.
   */
  AbiCardBuilder lead(String text, String hex, String nop) {
    leads.add(new Lead(text, ByteList.of(bytes(hex)), Filler.of(nop)));
    return this;
  }

  AbiCardBuilder entryStub(String hex) {
    entryStub = bytes(hex);
    return this;
  }

  /** The stub where the counting function is of the ISA's second instruction set. */
  AbiCardBuilder secondEntryStub(String hex) {
    secondEntryStub = bytes(hex);
    return this;
  }

  AbiCardBuilder returnAddress(Operand value) {
    returnAddress = value;
    return this;
  }

  /** Instead of calls: sites of a table, which begin with one of these nops (hex). */
  AbiCardBuilder sites(SiteTable table, String... nops) {
    siteTable = table;
    siteNops = Stream.of(nops).map(AbiCardBuilder::bytes).toList();
    this.nops = Stream.of(nops).map(Filler::of).toList();
    return this;
  }

  AbiCardBuilder prologue(Prologue value) {
    prologue = value;
    return this;
  }

  /** Where the return address is; of several the first that applies. */
  AbiCardBuilder slots(Slot... values) {
    slots = List.of(values);
    return this;
  }

  /** The slot is a word in memory. */
  AbiCardBuilder slot(Operand address) {
    return slots(Slot.memory(address));
  }

  AbiCardBuilder parent(Operand value) {
    parent = value;
    return this;
  }

  /** The frame pointer to note at entry and to find again at exit. */
  AbiCardBuilder fpMustAgree(Operand atEntry, Operand atExit) {
    fpAtEntry = atEntry;
    fpAtExit = atExit;
    return this;
  }

  AbiCardBuilder retpAtExit(Operand... oneOf) {
    retpAtExit = List.of(oneOf);
    return this;
  }

  /** Arguments that are in registers. */
  AbiCardBuilder arguments(int... registers) {
    arguments = IntStream.of(registers).mapToObj(Operand::register).toList();
    return this;
  }

  /** Arguments that are words on the stack, so many, from an address on. */
  AbiCardBuilder arguments(Operand first, int count, int wordBytes) {
    arguments =
        IntStream.range(0, count)
            .mapToObj(i -> Operand.word(first.register(), first.offset() + (long) i * wordBytes))
            .toList();
    return this;
  }

  AbiCardBuilder slotFromFp(long value) {
    slotFromFp = OptionalLong.of(value);
    return this;
  }

  /** {@link #slotFromFp} holds only for functions whose site says that they keep a frame. */
  AbiCardBuilder slotFromFpBySite(long value) {
    framesEverywhere = false;
    return slotFromFp(value);
  }

  /** Another card counts where a function is entered at its nops. */
  AbiCardBuilder atSite(AbiCard value) {
    atSite = value;
    return this;
  }

  AbiCardBuilder remark(String value) {
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
