package dev.retstack.machine.isa;

import static dev.retstack.machine.isa.system.StatLayout.eight;
import static dev.retstack.machine.isa.system.StatLayout.four;
import static dev.retstack.unicorn.PpcConst.*;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.AbiCard.Moment;
import dev.retstack.machine.isa.call.AbiCard.SiteTable;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.Encoding;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.call.StackWalk;
import dev.retstack.machine.isa.sigframe.KernelObject;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.BringUp;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.CpuState;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * PowerPC. Source: Power ISA 3.0B, Book I; 64-bit PowerPC ELF ABI Supplement 1.9, 3.2 "Function
 * Calling Sequence" (ppc64, ELFv1, big-endian); 64-Bit ELF V2 ABI Specification, 2.2 "Function Call
 * Linkage Protocols" and 2.3.2 "The Global Entry Point" (ppc64le); System V Application Binary
 * Interface, PowerPC Processor Supplement, 3 "Function Calling Sequence" (ppc32, big-endian). All
 * have the back chain at 0(r1). The callee saves lr in the caller's frame: at 16(r1), of 32 bits at
 * 4(r1). The way out uses r12 and lr only, which a return leaves to anyone.
 *
 * <p>64 bits: ELFv1 and ELFv2 differ in the order of bytes only.
 *
 * <pre>
 * -pg: called behind the prologue               -pg -mprofile-kernel: called first
 *
 *   f: mflr r0                                    f: mflr r0
 *      std  r31,-8(r1)                               std  r0,16(r1)          compilers before gcc 6
 *      std  r0,16(r1)                                bl   _mcount            selfpc
 *      stdu r1,-n(r1)                                std  r31,-8(r1)
 *      mr   r31,r1                                   stdu r1,-n(r1)
 *      bl   _mcount             selfpc               ...
 *      nop                                           mtlr r0
 *      ...                                           blr
 *      ld   r0,16(r1)
 *      mtlr r0
 *      blr                                      -fpatchable-function-entry=2
 *
 *                                                 f: nop; nop                selfpc
 *                                                    ...
 * in _mcount, -pg                               in _mcount, -mprofile-kernel
 *   lr               return address: selfpc + 4   lr    return address: selfpc + 4
 *   16(back chain)   frompc; retp                 r0    frompc; retp = r1 + 16
 *                                               at the first nop
 *                                                 lr    frompc; retp = r1 + 16
 *
 * at entry, but not with plain -pg: r31 is the caller's frame pointer, callee-saved; with plain -pg
 * it was saved below the floating-point registers that the function saves
 * in return_to_handler, everywhere: r1 is the caller's again, retp = r1 + 16; r31 is the caller's
 * </pre>
 *
 * All but the last call the same function. What stands directly before the call distinguishes them.
 * With -mprofile-kernel it returns by ctr and gives lr back what is in r0, from which the function
 * saves it again; this also does where the call is an ordinary one. A nested function saves its
 * static chain ({@code std r11,24(r1)}) behind the mflr.
 *
 * <p>ELFv1: the address of a function is that of its descriptor in {@code .opd}: address of the
 * code, TOC for r2, static chain for r11. The loader gives names and the entry point the addresses
 * of code; a program starts with the TOC of its entry point in r2. Results: r3 (r4), f1-f4, memory
 * at r3 for every struct.
 *
 * <p>ELFv2: a function that needs the TOC sets it up first:
 *
 * <pre>
 *   f: addis r2,r12,.TOC.-f@ha     global entry: called by pointer, its address in r12
 *      addi  r2,r2,.TOC.-f@l       (absolute programs: lis, addi)
 *   .localentry f                  local entry, f + 8: called by bl, r2 is right already
 *      mflr  r0
 *      bl    _mcount               selfpc, -mprofile-kernel
 * </pre>
 *
 * gcc 12 puts the nops of -fpatchable-function-entry in front of the set-up, where a call of the
 * local entry does not pass them: the local entry is taken for the entry. gcc 13 puts them behind
 * it. Results: r3 r4, f1-f8 (homogeneous aggregates, too), memory at r3. A program starts with its
 * entry point in r12.
 *
 * <p>32 bits:
 *
 * <pre>
 * -pg: called first                             -fpatchable-function-entry=2
 *
 *   f: mflr r0                                    f: nop; nop                selfpc
 *      stw  r0,4(r1)                                 stwu r1,-n(r1)
 *      bl   _mcount             selfpc               ...
 *      stwu r1,-n(r1)                                mtlr r0
 *      stw  r31,n-4(r1)                              blr
 *      ...
 *      mtlr r0
 *      blr
 *
 * in _mcount                                    at the first nop
 *   lr      return address: selfpc + 4            lr      frompc; retp = r1 + 4, where the prologue
 *   4(r1)   frompc; retp = r1 + 4                         will save it
 *
 * -pg of clang: behind the prologue, as any other function; 4(back chain) holds frompc
 *
 * at entry, both of gcc: r31 is the caller's frame pointer, callee-saved
 * in return_to_handler, both: r31 and r1 are the caller's again, retp as at entry
 * </pre>
 *
 * {@code _mcount} must give lr back what it reads at 4(r1): the function saves it again, or returns
 * by it. A nested function keeps its static chain over the call ({@code stwu r1,-16(r1); stw
 * r11,12(r1)} come first): the word that is hijacked lies 16 bytes lower, and a callee's slot may
 * come to lie there, so retp is where the prologue will save lr in any case. Results: r3 r4, f1,
 * memory at r3 for every struct.
 *
 * @param order byte order of the instructions
 * @param wordBytes 4 or 8
 */
record Power(ByteOrder order, int wordBytes) {
  /** {@code nop}: {@code ori r0, r0, 0}. */
  static final int NOP = 0x6000_0000;

  /** {@code mflr r0}. */
  static final int MFLR_R0 = 0x7c08_02a6;

  /** {@code blr}. */
  static final int BLR = 0x4e80_0020;

  /** {@code std r2,24(r1)}: the TOC save word of ELFv2. */
  private static final int STD_R2_24_R1 = 0xf841_0018;

  /** {@code std r2,40(r1)}: that of ELFv1. */
  private static final int STD_R2_40_R1 = 0xf841_0028;

  /** From the beginning of the GOT to where the TOC register points. */
  private static final long TOC_BIAS = 0x8000;

  /** {@code b .}. */
  private static final int BRANCH = 0x4800_0000;

  /** MSR.FP. */
  static final long MSR_FLOATING_POINT = 1L << 13;

  /** Registers of arguments: r3 to r10. */
  static final int[] ARGUMENTS = {
    UC_PPC_REG_3,
    UC_PPC_REG_4,
    UC_PPC_REG_5,
    UC_PPC_REG_6,
    UC_PPC_REG_7,
    UC_PPC_REG_8,
    UC_PPC_REG_9,
    UC_PPC_REG_10
  };

  /** Bytes of an instruction. */
  static final int STEP = 4;

  private static final int STD_R0_16_R1 = 0xf801_0010;
  private static final int STD_R11_24_R1 = 0xf961_0018;

  /** 64-bit mode, which the engine's reset leaves off. */
  private static final long MSR_SIXTY_FOUR = 1L << 63;

  /** Hypervisor: without it addresses are translated, by tables that do not exist. */
  private static final long MSR_HYPERVISOR = 1L << 60;

  private static final long MSR_VECTORS = 1L << 25 | 1L << 23;
  private static final long MSR_LITTLE_ENDIAN = 1;

  /** Where every function of ELFv1 and ELFv2 saves lr. */
  private static final Operand SAVE_WORD_64 = Operand.sum(UC_PPC_REG_1, 16);

  /** Where every function of ppc32 saves lr. */
  private static final Operand SAVE_WORD_32 = Operand.sum(UC_PPC_REG_1, 4);

  /** The version of the ABI in {@code e_flags}; each has one byte order that is traced. */
  private static final int ABI_64 = 0x3;

  /** {@code struct stat}. */
  private static final StatLayout STAT =
      new StatLayout(144, eight(8), four(24), eight(16), eight(48), eight(56), eight(64));

  /** {@code struct stat64}. */
  private static final StatLayout STAT_32 =
      new StatLayout(104, eight(8), four(16), four(20), eight(48), four(56), eight(64));

  /** A caller restores r2 behind a call that may change it, so the way out need not. */
  static final Isa PPC64 =
      new Power(ByteOrder.BIG_ENDIAN, 8)
          .isa64(
              "ppc64",
              ForeignAbi.byFlags(8, ABI_64, 2, "ELFv2, big-endian", "compile with -mabi=elfv1"),
              4,
              BringUp.ENTRY_TOC,
              UC_PPC_REG_2,
              // 288 bytes below the stack pointer; 48 of linkage, 8 doublewords of arguments
              interrupts(288, 112, Registers.NONE, UC_PPC_REG_2));

  static final Isa PPC64LE =
      new Power(ByteOrder.LITTLE_ENDIAN, 8)
          .isa64(
              "ppc64le",
              ForeignAbi.byFlags(8, ABI_64, 1, "ELFv1, little-endian", "compile with -mabi=elfv2"),
              8,
              BringUp.ENTRY,
              UC_PPC_REG_12,
              // 512 bytes with those of the kernel; 32 of linkage
              interrupts(512, 112, UC_PPC_REG_12, Registers.NONE));

  static final Isa PPC32 = new Power(ByteOrder.BIG_ENDIAN, 4).isa32();

  /**
   * @param foreign the ABI of the same byte order that is not traced
   * @param floats how many registers of floating point may hold a result
   * @param entry symbol whose value a program finds at its start in {@code entryRegister}
   */
  private Isa isa64(
      String name,
      ForeignAbi foreign,
      int floats,
      String entry,
      int entryRegister,
      InterruptAbi interrupts) {
    boolean isLittle = order == ByteOrder.LITTLE_ENDIAN;
    return new Isa(
        name,
        new ElfAbi(
            21,
            "ppc64",
            Integer.SIZE,
            Power::isElfV2,
            List.of(foreign.only(order)),
            Optional.empty()),
        wordBytes,
        order,
        // opened big-endian always: a bit of MSR turns the order
        new Isa.Engine(
            UcConst.UC_ARCH_PPC,
            UcConst.UC_MODE_PPC64 | UcConst.UC_MODE_BIG_ENDIAN,
            OptionalInt.empty()),
        CodeAddresses.PLAIN,
        registers(floats),
        (engine, symbols) -> {
          start(engine);
          symbols.apply(entry).ifPresent(value -> engine.reg_write(entryRegister, value));
        },
        systemCalls(name)
            .dynamic(isLittle ? elfV2() : elfV1())
            .threads(SyscallAbi.CloneAbi.backwards(UC_PPC_REG_13))
            .signals(signals64())
            .build(),
        interrupts,
        landing(),
        stops(),
        cards64());
  }

  /**
   * {@code asm/sigcontext.h}, {@code asm/ptrace.h}:
   *
   * <pre>
   *   0     linkage area     128   ucontext, with sigcontext at 168: registers at 232 and 616
   *   1616  pointers to siginfo and ucontext      1632  siginfo
   * </pre>
   *
   * Handlers return to code that takes the linkage area off the stack. Vectors are not in the
   * frame. The code is not in the kernel's order. A program that does not look at the kernel's
   * shared object (of musl, linked statically) has an unwinder that ends at the handler then. If
   * libgcc from 10 on recognised the code, it would abort.
   */
  private SignalAbi signals64() {
    return faults(new SignalAbi.Layout(1760, 0, 128, 1632, 128))
        .trampoline(4, code(0x3800_00ac, 0x3821_0080, 0x4400_0002)) // li r0,172; addi r1,r1,128; sc
        .object(object("linux-vdso64.so.1", Map.of("__kernel_sigtramp_rt64", 0)))
        .stackAndMask(16, 40)
        .place(128 + 224, 8, 128 + 232)
        .registers(232, 8, 8, IntStream.rangeClosed(UC_PPC_REG_0, UC_PPC_REG_31).toArray())
        .registers(488, 8, 8, UC_PPC_REG_PC)
        .registers(512, 8, 8, UC_PPC_REG_CTR, UC_PPC_REG_LR, UC_PPC_REG_XER)
        .registers(536 + lowHalf(), 4, 4, UC_PPC_REG_CR)
        .faultAt(560)
        .registers(616, 8, 8, IntStream.rangeClosed(UC_PPC_REG_FPR0, UC_PPC_REG_FPR31).toArray())
        .registers(872 + lowHalf(), 4, 4, UC_PPC_REG_FPSCR)
        .place(1616, 8, 1632)
        .place(1624, 8, 128)
        .build();
  }

  /**
   * {@code asm/ucontext.h}, {@code kernel/signal_32.c}:
   *
   * <pre>
   *   0   linkage area   80  siginfo   208  ucontext, which names the registers at 400 and 592
   * </pre>
   *
   * Handlers without SA_SIGINFO have the same frame, and return to the first piece of code. As in
   * {@link #signals64}, libgcc must not recognise it. The second piece is for glibc's {@code
   * backtrace}: without that symbol it takes the outermost frame, which returns to 0, for one.
   */
  private SignalAbi signals32() {
    return faults(new SignalAbi.Layout(1392, 0, 0, 80, 208))
        .trampoline( // li r0,172; nop; sc; li r0,119; nop; sc
            4, code(0x3800_00ac, NOP, 0x4400_0002, 0x3800_0077, NOP, 0x4400_0002))
        .object(
            object(
                "linux-vdso32.so.1",
                Map.of("__kernel_sigtramp_rt32", 0, "__kernel_sigtramp32", 3 * STEP)))
        .stackAndMask(8, 52)
        .swapped(48, 4, 192)
        .registers(192, 4, 4, IntStream.rangeClosed(UC_PPC_REG_0, UC_PPC_REG_31).toArray())
        .registers(320, 4, 4, UC_PPC_REG_PC)
        .registers(332, 4, 4, UC_PPC_REG_CTR, UC_PPC_REG_LR, UC_PPC_REG_XER, UC_PPC_REG_CR)
        .faultAt(356)
        .registers(384, 8, 8, IntStream.rangeClosed(UC_PPC_REG_FPR0, UC_PPC_REG_FPR31).toArray())
        .registers(640 + lowHalf(), 4, 4, UC_PPC_REG_FPSCR)
        .build();
  }

  /** The psABIs, "DWARF Register Number Mapping"; 67 is the kernel's choice. */
  private static KernelObject object(String name, Map<String, Integer> functions) {
    Map<Integer, List<Integer>> columns = new HashMap<>();
    for (int i = 0; i < 32; i++) {
      columns.put(UC_PPC_REG_0 + i, List.of(i));
      columns.put(UC_PPC_REG_FPR0 + i, List.of(32 + i));
    }
    columns.put(UC_PPC_REG_LR, List.of(65));
    columns.put(UC_PPC_REG_PC, List.of(67));
    columns.put(UC_PPC_REG_CR, List.of(68, 69, 70, 71, 72, 73, 74, 75));
    return new KernelObject(name, new TreeMap<>(functions), 1, 67, columns);
  }

  private SignalAbi.Layout faults(SignalAbi.Layout layout) {
    boolean isLittle = order == ByteOrder.LITTLE_ENDIAN;
    return layout
        .faults(
            Map.of(
                5, new SignalAbi.Fault(SignalAbi.SIGBUS, SignalAbi.BUS_ADRALN),
                6, new SignalAbi.Fault(SignalAbi.SIGILL, 1),
                96, new SignalAbi.Fault(SignalAbi.SIGILL, 1)))
        // tw, td; tdi, twi
        .breakpoints(isLittle ? "[08]8.[08]..7[c-f]" : "7[c-f]...[08][08]8")
        .breakpoints(isLittle ? "......0[8-f]" : "0[8-f]")
        .late("") // the engine stands behind every one
        .hidden();
  }

  /** Bytes from a place of eight to the lower half of its number. */
  private int lowHalf() {
    return order == ByteOrder.LITTLE_ENDIAN ? 0 : Integer.BYTES;
  }

  /**
   * Code between functions of two files keeps the caller's TOC, which is loaded behind the call.
   */
  private DynamicAbi elfV2() {
    return dynamic("powerpc64le-linux-gnu", "libc6-ppc64el-cross", STD_R2_24_R1, UC_PPC_REG_12);
  }

  /** A slot is a copy of the function's descriptor. */
  private DynamicAbi elfV1() {
    return dynamic("powerpc64-linux-gnu", "libc6-ppc64-cross", STD_R2_40_R1, UC_PPC_REG_11);
  }

  /** See {@link #importSlot} for what linkers write. */
  private DynamicAbi dynamic(String triple, String libraries, int save, int base) {
    return DynamicAbi.of(
            triple,
            libraries,
            hex(BLR),
            (code, address, got) -> importSlot(code, address, got, save, base))
        .withLinkageLead(code(save));
  }

  /**
   * 64-Bit ELF V2 ABI, 4.2.5.3 "Procedure Linkage Table", and what linkers write for ELFv1: the TOC
   * is saved, then {@code [addis base,r2,slot@ha;] ld r12,slot@l(base or r2)}. GNU ld leaves addis
   * out, and begins each at a multiple of 32: there is room for more behind it.
   *
   * @param save of the TOC
   * @param base register of a far slot: r12, or r11 of ELFv1
   */
  private OptionalLong importSlot(Code code, long address, long got, int save, int base) {
    int number = base - UC_PPC_REG_0;
    int second = instruction(code, address + 4);
    boolean far = second >>> 16 == (0x3c02 | number << 5);
    int load = far ? instruction(code, address + 8) : second;
    if (address % (far ? STEP : 32) != 0
        || instruction(code, address) != save
        || load >>> 16 != (far ? 0xe980 | number : 0xe982)) {
      return OptionalLong.empty();
    }
    long high = far ? (long) (short) second << 16 : 0;
    return OptionalLong.of(got + TOC_BIAS + high + (short) (load & ~3));
  }

  private Isa isa32() {
    return new Isa(
        "ppc32",
        ElfAbi.plain(20, "ppc32"),
        wordBytes,
        order,
        new Isa.Engine(
            UcConst.UC_ARCH_PPC,
            UcConst.UC_MODE_PPC32 | UcConst.UC_MODE_BIG_ENDIAN,
            OptionalInt.empty()),
        CodeAddresses.PLAIN,
        registers(1),
        (engine, symbols) ->
            engine.reg_write(UC_PPC_REG_MSR, engine.reg_read(UC_PPC_REG_MSR) | MSR_FLOATING_POINT),
        systemCalls("ppc")
            .dynamic(
                DynamicAbi.of("powerpc-linux-gnu", "libc6-powerpc-cross", hex(BLR))
                    .withLocalValuesInAddends())
            .threads(SyscallAbi.CloneAbi.backwards(UC_PPC_REG_2))
            .signals(signals32())
            .olderThanStackHeader()
            .build(),
        interrupts(0, 8, Registers.NONE, Registers.NONE), // back chain, LR save word
        landing(),
        stops(),
        List.of(mcount32(), clangMcount32(), patchable(SAVE_WORD_32)));
  }

  /** r3 and r4, and f1 and so on: neighbours by their ids. */
  private Registers registers(int floats) {
    List<Registers.Named> results = new ArrayList<>();
    results.add(new Registers.Named("r3", UC_PPC_REG_3, wordBytes));
    results.add(new Registers.Named("r4", UC_PPC_REG_4, wordBytes));
    for (int i = 0; i < floats; i++) {
      results.add(new Registers.Named("f" + (i + 1), UC_PPC_REG_FPR1 + i, 8));
    }
    return new Registers(
        UC_PPC_REG_PC,
        UC_PPC_REG_1,
        UC_PPC_REG_LR,
        UC_PPC_REG_31,
        Registers.NONE, // r13, of 32 bits r2, which programs set themselves
        UC_PPC_REG_3,
        results);
  }

  /** "64-Bit ELF V2 ABI", 3.1.1; only ELFv2 has local entries: 3.4, "Symbol Values". */
  private static boolean isElfV2(int flags) {
    return (flags & ABI_64) == 2;
  }

  private static InterruptAbi interrupts(
      int redZone, int area, int entryRegister, int tocRegister) {
    return new InterruptAbi(
        List.of(UC_PPC_REG_3, UC_PPC_REG_4, UC_PPC_REG_5),
        redZone,
        area,
        16,
        true,
        entryRegister,
        tocRegister,
        false);
  }

  /**
   * The card of nops at the entry, before lr is saved anywhere.
   *
   * @param saved where the prologue will save lr: retp
   */
  AbiCard patchable(Operand saved) {
    return AbiCard.named("patchable")
        .flags("-fpatchable-function-entry=2")
        .moment(Moment.BEFORE_PROLOGUE)
        .arguments(ARGUMENTS)
        .sites(SiteTable.PATCHABLE, hex(NOP))
        .slots(Slot.register(UC_PPC_REG_LR, saved))
        .fpMustAgree(Operand.register(UC_PPC_REG_31), Operand.register(UC_PPC_REG_31))
        .retpAtExit(saved)
        .reads(reads())
        .remark("the nops stay: the site is seen, not patched")
        .build();
  }

  /** The word at r1 is the address of the caller's frame, where lr is saved behind it. */
  private ReturnReads reads() {
    int saved = wordBytes == Long.BYTES ? 16 : 4;
    ReturnReads chain = ReturnReads.byChain(code -> STEP, this::transfer, 1, 31, saved, 0);
    return chain.and(new PowerLink(this).reads());
  }

  /** {@code mr}, {@code lwz} or {@code ld}. */
  private ReturnReads.Transfer transfer(long code) {
    int word = instruction(code);
    int first = word >>> 21 & 31;
    int second = word >>> 16 & 31;
    if ((word & 0xfc00_07ff) == 0x7c00_0378 && first == (word >>> 11 & 31)) {
      return new ReturnReads.Transfer(second, first, false, 0);
    }
    int load = wordBytes == Long.BYTES ? 0xe800_0000 : 0x8000_0000;
    int mask = wordBytes == Long.BYTES ? 0xfc00_0003 : 0xfc00_0000;
    return (word & mask) == load
        ? new ReturnReads.Transfer(first, second, true, (short) word)
        : null;
  }

  /** Reads how far the stack pointer goes down ({@code stwu r1,-n(r1)}), and where lr is saved. */
  StackWalk prologue() {
    return StackWalk.of(
        code -> STEP,
        StackWalk.Form.word(
            order, "stwu r1,d(r1)", 0x9421_0000, 0xffff_0000, (word, f) -> f.grow(-(short) word)),
        StackWalk.Form.word(
            order, "stw r0,d(r1)", 0x9001_0000, 0xffff_0000, (word, f) -> f.save((short) word)));
  }

  /** {@code bl}: a 26-bit distance, its two lowest bits being those of the instruction. */
  CallForm call() {
    CallForm.Target target = (at, code) -> at + (((int) code << 6) >> 6 & -4);
    return order == ByteOrder.BIG_ENDIAN
        ? CallForm.big("bl", STEP, 0x4800_0001L, 0xfc00_0003L, target)
        : CallForm.bits("bl", STEP, 0x4800_0001L, 0xfc00_0003L, target);
  }

  /** {@code b .+4}, as {@link CallForm#skippedBy} takes it. */
  String skip() {
    return order == ByteOrder.BIG_ENDIAN ? "48 00 00 04" : "04 00 00 48";
  }

  /** Instructions in the order of memory. */
  byte[] code(int... instructions) {
    return Encoding.words(order, instructions);
  }

  /** Code of these instructions in hex. */
  String hex(int... instructions) {
    return HexFormat.of().formatHex(code(instructions));
  }

  /** The instruction at an address. */
  int instruction(Code code, long address) {
    return instruction(code.at(address));
  }

  /** The instruction that has this code, the first byte lowest. */
  int instruction(long code) {
    return Code.word(order, code);
  }

  /** The way out uses r12 and lr only, which a return leaves to anyone. */
  LandingCode landing() {
    return LandingCode.oneBlock(32, (at, mailbox) -> wayOut((int) mailbox), this::jump);
  }

  /** {@code b target}, 32 MiB either way. */
  private byte[] jump(long at, long target) {
    long distance = target - at;
    return distance << 38 >> 38 == distance && target % 4 == 0
        ? code(0x4800_0000 | ((int) distance & 0x3ff_fffc))
        : new byte[0];
  }

  /** {@code lis r12, mailbox@ha; ld r12, mailbox@l(r12); mtlr r12; blr}; lwz for 32 bits. */
  private byte[] wayOut(int mailbox) {
    int lis = 0x3d80_0000 | ((mailbox + 0x8000) >>> 16);
    int low = mailbox & 0xffff;
    int load = wordBytes == 8 ? 0xe98c_0000 : 0x818c_0000;
    return code(lis, load | low, 0x7d88_03a6, BLR);
  }

  /** A word that is not code, a branch to itself; exceptions as the engine numbers them. */
  Isa.Stops stops() {
    return new Isa.Stops(
        List.of(code(BRANCH)),
        Map.of(
            1, "machine check",
            2, "data storage",
            3, "instruction storage",
            5, "alignment",
            6, "program: illegal instruction or trap",
            7, "floating point is off",
            73, "vector unit is off",
            94, "vsx unit is off",
            96, "instruction that does not exist"));
  }

  /** {@code sc}; the engine stops behind it. CR0.SO says that the result is an error number. */
  SyscallAbi.Builder systemCalls(String platform) {
    return SyscallAbi.onInterrupt(8)
        .number("powerpc", UC_PPC_REG_0)
        .dialect(Dialect.POWER)
        .arguments(
            UC_PPC_REG_3, UC_PPC_REG_4, UC_PPC_REG_5, UC_PPC_REG_6, UC_PPC_REG_7, UC_PPC_REG_8)
        .result(UC_PPC_REG_3)
        .errorBit(UC_PPC_REG_CR0, 1)
        .pairsAligned()
        .stat(wordBytes == Long.BYTES ? STAT : STAT_32)
        .platform(platform);
  }

  /** True where these instructions stand directly before a site. */
  boolean precedes(Code code, long site, int... instructions) {
    long at = site - (long) instructions.length * STEP;
    for (int instruction : instructions) {
      if (instruction(code, at) != instruction) {
        return false;
      }
      at += STEP;
    }
    return true;
  }

  private List<AbiCard> cards64() {
    return List.of(mcount64(), profileKernel(), profileKernel3(), patchable(SAVE_WORD_64));
  }

  private AbiCard mcount64() {
    return counting64("mcount", "-pg")
        .callForms(call().skippedBy(skip())) // it gives lr what lr had
        .moment(Moment.AFTER_PROLOGUE)
        .prologue(this::ordinary)
        .slot(Operand.wordPlus(UC_PPC_REG_1, 0, 16))
        .retpAtExit(SAVE_WORD_64)
        .remark("the caller's frame pointer has no fixed place")
        .build();
  }

  private AbiCard profileKernel() {
    return first("profile-kernel")
        .lead("mflr r0", hex(MFLR_R0), hex(NOP))
        .prologue(this::twoInstructions)
        .remark("gcc 6 and later")
        .build();
  }

  private AbiCard profileKernel3() {
    return first("profile-kernel-3")
        .lead("mflr r0; std r0,16(r1)", hex(MFLR_R0, STD_R0_16_R1), hex(NOP))
        .prologue(this::threeInstructions)
        .remark("compilers before gcc 6")
        .build();
  }

  /** A call ahead of the prologue. */
  private AbiCard.Builder first(String name) {
    return counting64(name, "-pg -mprofile-kernel")
        .moment(Moment.BEFORE_PROLOGUE)
        .arguments(ARGUMENTS)
        .slots(Slot.register(UC_PPC_REG_0, SAVE_WORD_64))
        .fpMustAgree(Operand.register(UC_PPC_REG_31), Operand.register(UC_PPC_REG_31))
        .retpAtExit(SAVE_WORD_64);
  }

  private AbiCard.Builder counting64(String name, String flags) {
    return AbiCard.named(name)
        .flags(flags)
        .symbols("_mcount")
        .callForms(call())
        .callRelocations(0, 10, 116) // R_PPC64_REL24, REL24_NOTOC
        .nop(hex(NOP))
        // mflr r12; mtctr r12; mtlr r0; bctr
        .reads(reads())
        .entryStub(hex(0x7d88_02a6, 0x7d89_03a6, 0x7c08_03a6, 0x4e80_0420))
        .returnAddress(Operand.register(UC_PPC_REG_LR));
  }

  private Optional<SiteFacts> twoInstructions(Code code, long function, long site, long after) {
    return take(precedes(code, site, MFLR_R0) || precedes(code, site, MFLR_R0, STD_R11_24_R1));
  }

  private Optional<SiteFacts> threeInstructions(Code code, long function, long site, long after) {
    return take(
        precedes(code, site, MFLR_R0, STD_R0_16_R1)
            || precedes(code, site, MFLR_R0, STD_R11_24_R1, STD_R0_16_R1)
            || precedes(code, site, MFLR_R0, STD_R0_16_R1, STD_R11_24_R1));
  }

  /** All other calls: a prologue with a frame ends otherwise. */
  private Optional<SiteFacts> ordinary(Code code, long function, long site, long after) {
    return take(
        twoInstructions(code, function, site, after).isEmpty()
            && threeInstructions(code, function, site, after).isEmpty());
  }

  private static Optional<SiteFacts> take(boolean yes) {
    return yes ? Optional.of(SiteFacts.NONE) : Optional.empty();
  }

  /**
   * Sets MSR. Unicorn does not let the hypervisor bit be written, so it is set in a saved context.
   */
  private void start(Unicorn engine) {
    long wanted =
        MSR_SIXTY_FOUR
            | MSR_VECTORS
            | MSR_FLOATING_POINT
            | (order == ByteOrder.LITTLE_ENDIAN ? MSR_LITTLE_ENDIAN : 0);
    engine.reg_write(UC_PPC_REG_MSR, wanted);
    long got = engine.reg_read(UC_PPC_REG_MSR);
    try (CpuState context = engine.context_alloc()) {
      engine.context_save(context);
      MemorySegment bytes = context.bytes();
      boolean found = false;
      // MSR itself, and the flags that the engine keeps of it
      for (long at = 0; at + Long.BYTES <= bytes.byteSize(); at += Long.BYTES) {
        if (bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, at) == got) {
          bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, at, got | MSR_HYPERVISOR);
          found = true;
        }
      }
      if (!found) {
        throw new IllegalStateException(
            "msr 0x%x is nowhere in a saved context of libunicorn: use version 2.1.4"
                .formatted(got));
      }
      engine.context_restore(context);
    }
  }

  private AbiCard mcount32() {
    return counting32("mcount")
        .flags("-pg")
        .moment(Moment.BEFORE_PROLOGUE)
        .arguments(ARGUMENTS)
        .prologue(
            (code, function, site, after) ->
                isFirst(code, site)
                    ? prologue().scan(code, function, site, after)
                    : Optional.empty())
        .slots(Slot.memory(SAVE_WORD_32).retpByFrame(SAVE_WORD_32))
        .fpMustAgree(Operand.register(UC_PPC_REG_31), Operand.register(UC_PPC_REG_31))
        .remark("lr is read back from the hijacked slot")
        .build();
  }

  private AbiCard clangMcount32() {
    return counting32("clang-mcount")
        .flags("-pg, by clang")
        .moment(Moment.AFTER_PROLOGUE)
        .prologue(
            (code, function, site, after) ->
                isFirst(code, site) ? Optional.empty() : Optional.of(SiteFacts.NONE))
        .slot(Operand.wordPlus(UC_PPC_REG_1, 0, 4))
        .remark("the caller's frame pointer has no fixed place")
        .build();
  }

  /** gcc calls {@code _mcount} directly behind {@code mflr r0; stw r0,4(r1)}. */
  private boolean isFirst(Code code, long site) {
    return precedes(code, site, MFLR_R0, 0x9001_0004);
  }

  private AbiCard.Builder counting32(String name) {
    return AbiCard.named(name)
        .symbols("_mcount")
        .callForms(call())
        .callRelocations(0, 10, 18, 23) // R_PPC_REL24, PLTREL24, LOCAL24PC
        .nop(hex(NOP))
        // mflr r0; mtctr r0; lwz r0,4(r1); mtlr r0; bctr
        .entryStub(hex(0x7c08_02a6, 0x7c09_03a6, 0x8001_0004, 0x7c08_03a6, 0x4e80_0420))
        .returnAddress(Operand.register(UC_PPC_REG_LR))
        .reads(reads())
        .retpAtExit(SAVE_WORD_32);
  }
}
