package dev.retstack.machine.isa;

import static dev.retstack.machine.isa.system.StatLayout.eight;
import static dev.retstack.machine.isa.system.StatLayout.four;
import static dev.retstack.schema.record.SignalContext.EMT;
import static dev.retstack.unicorn.MipsConst.*;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.AbiCard.Moment;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.Encoding;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Prologue;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.call.StackWalk;
import dev.retstack.machine.isa.call.StackWalk.Form;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.BringUp;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * MIPS: mips and mipsel, of 32 bits (o32), and mips64, of 64 bits (n64). Source: System V
 * Application Binary Interface, MIPS RISC Processor Supplement, 3 "Function Calling Sequence"
 * (o32); MIPSpro 64-Bit Porting and Transition Guide, 2 "Calling Convention" (n64); for the
 * counting function gcc/config/mips/mips.h, the text of {@code FUNCTION_PROFILER}.
 *
 * <pre>
 * -pg: called behind the prologue                 -pg -mmcount-ra-address: as well
 *
 *   f: addiu $sp,$sp,-n                             f: addiu $sp,$sp,-n
 *      sw    $31,n-4($sp)     not in a leaf            sw    $31,n-4($sp)     not in a leaf
 *      ...                                             ...
 *      move  $1,$31                                    move  $1,$31
 *      jal   _mcount          selfpc                   addiu $12,$sp,n-4      in a leaf: move $12,$0
 *       addiu $sp,$sp,-8      o32 only                 jal   _mcount          selfpc
 *      ...                                              addiu $sp,$sp,-8      o32 only
 *      lw    $31,n-4($sp)                              ...
 *      jr    $31
 *       addiu $sp,$sp,n
 *
 * in _mcount
 *   $31      return address: selfpc + 8, behind the delay slot
 *   $1       frompc; goes back to $31 on the way out
 *   slot     where f saved $31: $12, or found by reading the prologue from f to here; in a leaf $1
 *   retp     the stack pointer at the call of f, also found by reading the prologue
 *   $sp      o32: 8 lower than in f; _mcount gives it back
 *
 * in return_to_handler: retp = $sp. The frame pointer lies at no fixed place: it is not compared
 * </pre>
 *
 * Position-independent code, the default on Linux, calls through the global offset table. Which
 * word of it is seen from the code in front, as {@link Values} reads it: $gp may differ from
 * function to function, where there are several tables.
 *
 * <pre>
 *   f: lui   $gp,%hi(_gp_disp)                    clang: any register for $gp, and -mxgot:
 *      addiu $gp,$gp,%lo(_gp_disp)
 *      addu  $gp,$gp,$25      address of f          lui   $1,%call_hi(_mcount)
 *      ...                                          addu  $1,$1,$16
 *      move  $1,$31                                 lw    $25,%call_lo(_mcount)($1)
 *      addiu $sp,$sp,-8       o32 only              move  $gp,$16
 *      lw    $25,%call16(_mcount)($gp)              move  $1,$31
 *      jalr  $25              selfpc                jalr  $25
 *       nop                                          addiu $sp,$sp,-8
 * </pre>
 *
 * n64 saves with {@code sd} and moves with {@code daddiu}. At -O0 the move of $sp stands in front
 * of the {@code jal}: the prologue is read up to the end of the delay slot, so both count once. Big
 * frames are made by a constant in $3. Results: $2 $3, $f0 $f2, memory at the first argument. The
 * way out uses $1 and $31 only, which a return leaves to anyone; the static chain $15 is kept.
 */
final class Mips {
  private static final int SP = 29;
  private static final int LINK = 31;
  private static final int JAL = 0x0c00_0000;
  private static final int OPCODE = 0xfc00_0000;
  private static final int HIGH_HALF = 0xffff_0000;
  private static final int JR_31 = 0x03e0_0008;
  private static final int MOVE_31_1 = 0x0020_f825;
  private static final int ALL = 0xffff_ffff;

  /** {@code jalr $25}. */
  private static final int JALR_25 = 0x0320_f809;

  /** {@code bal}: what linkers make of it where the function is near. */
  private static final int BAL = 0x0411_0000;

  /** o32 in place of the call: gives back the room that _mcount gives back. */
  private static final int ADDIU_SP_8 = 0x27bd_0008;

  /** The delay slot: it may work for the function. */
  private static final String STAYS = " .. .. .. ..";

  /** $25 holds the address of what is called in position-independent code. */
  private static final int CALLED = 25;

  /** Bytes from {@code move $1,$31} to the call, at most. */
  private static final int PARENT_MOST = 48;

  /** Longest prologue that is read, in bytes. */
  private static final int PROLOGUE_MOST = 1024;

  /** No place in front of any other: from here nothing is read. */
  private static final long NOWHERE = Long.MAX_VALUE;

  /**
   * Status.FR: 32 registers of 64 bits for floating point, as n64 asks; KX, SX and UX: addresses of
   * 64 bits.
   */
  private static final long STATUS_64 = 0x0400_00e0;

  // e_flags: "MIPS ABI supplement" and binutils' include/elf/mips.h
  private static final int ABI2 = 0x20;
  private static final int ABI = 0xF000;
  private static final int ARCH = 0xF000_0000;
  private static final int MICRO = 0x0200_0000;
  private static final int MIPS_16 = 0x0400_0000;

  private static final String O32 = "compile with -mabi=32";
  private static final String R2 = "compile with -march=mips32r2 or -march=mips64r2";
  private static final String NO_MICRO = "compile with -mno-micromips";

  /** A relocation of n64 has three types, the first of them in the lowest byte. */
  private static final ElfAbi ELF =
      new ElfAbi(
          8,
          "mips",
          Byte.SIZE,
          flags -> false,
          List.of(
              ForeignAbi.byFlags(4, ABI2, ABI2, "n32", O32),
              ForeignAbi.byFlags(4, ABI, 0x2000, "o64", O32),
              ForeignAbi.byFlags(4, ABI, 0x3000, "mips eabi32", O32),
              ForeignAbi.byFlags(4, ABI, 0x4000, "mips eabi64", O32),
              ForeignAbi.byFlags(4, ARCH, 0x9000_0000, "mips32 release 6", R2),
              ForeignAbi.byFlags(4, ARCH, 0xA000_0000, "mips64 release 6", R2),
              ForeignAbi.byFlags(8, ARCH, 0xA000_0000, "mips64 release 6", R2),
              ForeignAbi.byFlags(4, MICRO, MICRO, "microMIPS", NO_MICRO),
              ForeignAbi.byFlags(8, MICRO, MICRO, "microMIPS", NO_MICRO),
              ForeignAbi.byFlags(4, MIPS_16, MIPS_16, "MIPS16", "compile with -mno-mips16")),
          Optional.of(new ElfAbi.ImplicitSlots(0x7000_0013, 0x7000_000a))); // GOTSYM, LOCAL_GOTNO

  /**
   * As IRIX had it: flags before the handler, {@code si_code} before {@code si_errno}, {@code
   * ss_size} before {@code ss_flags}. Source: the kernel's {@code asm/signal.h} and {@code
   * asm/siginfo.h} of MIPS.
   */
  private static final Dialect DIALECT =
      new Dialect(
          0x800,
          0x400,
          5,
          Map.of(
              Errno.ENAMETOOLONG,
              78,
              Errno.ENOSYS,
              89,
              Errno.ENOTEMPTY,
              93,
              Errno.ELOOP,
              90,
              Errno.ETIMEDOUT,
              145),
          new Dialect.Signals(
              128,
              16,
              1,
              2,
              4,
              -3,
              1,
              2,
              3,
              List.of(
                  1, 2, 3, 4, 5, 6, EMT, 8, 9, 7, 11, 31, 13, 14, 15, 10, 12, 17, 30, 28, 23, 29,
                  19, 20, 18, 21, 22, 26, 27, 24, 25)),
          Dialect.OpenFlags.MIPS,
          true,
          2);

  // jr, jalr; REGIMM: bltz to bgezl, bltzal to bgezall; j to bgtz; beql to bgtzl; bc1f to bc1tl
  private static final String BRANCHES = "0[0-3]....[048c][89]|0[4-7].[0-3]|0[89a-f]|1|5|45[01]";
  private static final String BRANCHES_LITTLE =
      "[048c][89]....0[0-3]|.....[0-3]0[4-7]|......0[89a-f]|......1|......5|....[01].45";

  // tge to tne; REGIMM: tgei to tnei
  private static final String TRAPS = "0[0-3]....[37bf][0-46]|0[4-7][02468ace][8-ce]";
  private static final String TRAPS_LITTLE = "[37bf][0-46]....0[0-3]|....[02468ace][8-ce]0[4-7]";

  /** {@code struct stat64} of o32, {@code struct stat} of n64. */
  private static final StatLayout STAT =
      new StatLayout(104, eight(16), four(24), four(28), eight(56), four(88), eight(96));

  /** o32: room for four argument registers; n64 asks for 16 bytes of alignment. */
  private static final InterruptAbi INTERRUPTS =
      InterruptAbi.plain(0, 16, 16, UC_MIPS_REG_4, UC_MIPS_REG_5, UC_MIPS_REG_6)
          .withEntryRegister(UC_MIPS_REG_25)
          .withDelaySlots();

  static final Isa MIPS = o32("mips", UcConst.UC_MODE_BIG_ENDIAN, ByteOrder.BIG_ENDIAN);
  static final Isa MIPSEL = o32("mipsel", UcConst.UC_MODE_LITTLE_ENDIAN, ByteOrder.LITTLE_ENDIAN);

  /** Unicorn's default model knows no 64-bit addresses. */
  static final Isa MIPS64 =
      isa(
          "mips64",
          ByteOrder.BIG_ENDIAN,
          8,
          engine(
              UcConst.UC_MODE_MIPS64 | UcConst.UC_MODE_BIG_ENDIAN,
              OptionalInt.of(UC_CPU_MIPS64_MIPS64R2_GENERIC)),
          (engine, symbols) -> wideAddresses(engine),
          systemCalls(ByteOrder.BIG_ENDIAN, "mips_n64", "mips64", "mips64-linux-gnuabi64")
              .arguments(
                  UC_MIPS_REG_4,
                  UC_MIPS_REG_5,
                  UC_MIPS_REG_6,
                  UC_MIPS_REG_7,
                  UC_MIPS_REG_8,
                  UC_MIPS_REG_9)
              .signals(signals64())
              .build(),
          n64(ByteOrder.BIG_ENDIAN));

  private Mips() {}

  private static Isa o32(String name, int mode, ByteOrder order) {
    return isa(
        name,
        order,
        4,
        engine(UcConst.UC_MODE_MIPS32 | mode, OptionalInt.empty()),
        BringUp.NOTHING,
        systemCalls(order, "mips_o32", "mips", name + "-linux-gnu")
            .arguments(UC_MIPS_REG_4, UC_MIPS_REG_5, UC_MIPS_REG_6, UC_MIPS_REG_7)
            .furtherArgumentsAt(16)
            .pairsAligned()
            .signals(signals(order))
            .build(),
        o32(order));
  }

  private static Isa isa(
      String name,
      ByteOrder order,
      int wordBytes,
      Isa.Engine engine,
      BringUp bringUp,
      SyscallAbi systemCalls,
      List<AbiCard> cards) {
    return new Isa(
        name,
        ELF,
        wordBytes,
        order,
        engine,
        CodeAddresses.PLAIN,
        registers(wordBytes),
        bringUp,
        systemCalls,
        INTERRUPTS,
        landing(order, wordBytes),
        stops(order),
        cards);
  }

  /**
   * {@code ll} and {@code lld} look an address up in the processor's own TLB, where the engine asks
   * nobody: entries of 512 MiB hold what a program may have. Where they lead to does not matter.
   */
  private static void wideAddresses(Unicorn engine) {
    engine.reg_write(UC_MIPS_REG_CP0_STATUS, engine.reg_read(UC_MIPS_REG_CP0_STATUS) | STATUS_64);
    byte[] code =
        Encoding.words(
            ByteOrder.BIG_ENDIAN,
            0x4088_0000, // mtc0 $8,Index
            0x40a9_5000, // dmtc0 $9,EntryHi
            0x40aa_1000, // dmtc0 $10,EntryLo0
            0x40aa_1800, // dmtc0 $10,EntryLo1
            0x408b_2800, // mtc0 $11,PageMask
            0x4200_0002, // tlbwi
            0x2508_0001, // addiu $8,$8,1
            0x012c_482d, // daddu $9,$9,$12
            0x152d_fff7, // bne $9,$13,the first
            0);
    engine.ctl_tlb_mode(UcConst.UC_TLB_CPU);
    engine.mem_map(SCRATCH, SCRATCH_BYTES, UcConst.UC_PROT_ALL);
    engine.mem_write(SCRATCH, code);
    int[] used = IntStream.rangeClosed(UC_MIPS_REG_8, UC_MIPS_REG_13).toArray();
    for (AddressRange range : WIDE) {
      long[] values = {range.entry, range.from, 0x1f, 0x1fff_e000, ENTRY_BYTES, range.to};
      for (int i = 0; i < used.length; i++) {
        engine.reg_write(used[i], values[i]);
      }
      engine.emu_start(UNMAPPED | SCRATCH, (UNMAPPED | SCRATCH) + code.length);
    }
    for (int register : used) {
      engine.reg_write(register, 0);
    }
    engine.mem_unmap(SCRATCH, SCRATCH_BYTES);
    engine.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
  }

  /** Addresses of which entries of the TLB from a number on are. */
  private record AddressRange(int entry, long from, long to) {}

  private static final long ENTRY_BYTES = 512L << 20;

  /** Programs, what they map, and stacks: all 64 entries. */
  private static final List<AddressRange> WIDE =
      List.of(
          new AddressRange(0, 0, 0x2_0000_0000L),
          new AddressRange(16, 0x20_0000_0000L, 0x25_0000_0000L),
          new AddressRange(56, 0x3f_0000_0000L, 0x40_0000_0000L));

  /** Physical memory where no program has any, and the addresses that are not translated. */
  private static final long SCRATCH = 0xf_fff0_0000L;

  private static final long SCRATCH_BYTES = 0x1000;
  private static final long UNMAPPED = 0x9000_0000_0000_0000L;

  private static Isa.Engine engine(int mode, OptionalInt cpuModel) {
    return new Isa.Engine(UcConst.UC_ARCH_MIPS, mode, cpuModel, Isa.Leaves.ALWAYS);
  }

  private static SyscallAbi.Builder systemCalls(
      ByteOrder order, String table, String platform, String triplet) {
    return SyscallAbi.onInterrupt(17) // syscall
        .number(table, UC_MIPS_REG_2)
        .result(UC_MIPS_REG_2)
        .errorRegister(UC_MIPS_REG_7)
        .dialect(DIALECT)
        .stat(STAT)
        .platform(platform)
        .threads(SyscallAbi.CloneAbi.backwards(UC_MIPS_REG_CP0_USERLOCAL))
        .dynamic(
            DynamicAbi.of(
                triplet,
                "libc6-%s-cross".formatted(triplet.substring(0, triplet.indexOf('-'))),
                hex(order, JR_31) + hex(order, 0),
                (code, address, _) -> importSlot(order, code, address)))
        .olderThanStackHeader();
  }

  /**
   * An entry of the procedure linkage table, which code that is not position-independent calls:
   * {@code lui $15,%hi(slot); lw $25,%lo(slot)($15)}, of n64 {@code ld}.
   */
  private static OptionalLong importSlot(ByteOrder order, Code code, long address) {
    int high = word(order, code, address);
    int load = word(order, code, address + 4);
    return high >>> 16 == 0x3c0f && (load >>> 16 == 0x8df9 || load >>> 16 == 0xddf9)
        ? OptionalLong.of((long) (high << 16) + (short) load)
        : OptionalLong.empty();
  }

  /**
   * {@code struct rt_sigframe} of o32: {@code rs_ass} and {@code rs_pad}, siginfo at 24, ucontext
   * at 152. In {@code struct sigcontext} each register has 64 bits. With 32-bit registers for
   * floating point a double is in a pair of them, and has the place of the even one. Source: the
   * kernel's {@code asm/sigcontext.h} and {@code asm/ucontext.h} of MIPS, and {@code do_trap_or_bp}
   * and {@code do_ri} of its {@code traps.c}. The engine overwrites the program counter before it
   * reports an exception.
   */
  private static SignalAbi signals(ByteOrder order) {
    int low = order == ByteOrder.BIG_ENDIAN ? 4 : 0;
    return faults(
        order,
        new SignalAbi.Layout(784, 0, 0, 24, 152)
            .trampoline(4, Encoding.words(order, 0x2402_1061, 0x0000_000c)) // li $2,4193; syscall
            .withoutRestorer()
            .stackAndMask(8, 616)
            .registers(32 + low, 4, 8, UC_MIPS_REG_PC)
            .registers(48 + low, 4, 8, registersFromOne())
            .registers(296 + low, 4, 16, everySecond(UC_MIPS_REG_F0))
            .registers(300 - low, 4, 16, everySecond(UC_MIPS_REG_F1))
            .word(564, 4, 1)); // sc_used_math
  }

  /** {@code struct rt_sigframe} of n64, where each register has one place. */
  private static SignalAbi signals64() {
    ByteOrder order = ByteOrder.BIG_ENDIAN;
    return faults(
        order,
        new SignalAbi.Layout(816, 0, 0, 24, 152)
            .trampoline(4, Encoding.words(order, 0x2402_145b, 0x0000_000c)) // li $2,5211; syscall
            .withoutRestorer()
            .stackAndMask(16, 640)
            .registers(616, 8, 8, UC_MIPS_REG_PC)
            .registers(48, 8, 8, registersFromOne())
            .registers(296, 8, 8, IntStream.rangeClosed(UC_MIPS_REG_F0, UC_MIPS_REG_F31).toArray())
            .word(628, 4, 1)); // sc_used_math
  }

  private static int[] registersFromOne() {
    return IntStream.rangeClosed(UC_MIPS_REG_1, UC_MIPS_REG_31).toArray();
  }

  private static SignalAbi faults(ByteOrder order, SignalAbi.Layout layout) {
    boolean big = order == ByteOrder.BIG_ENDIAN;
    return layout
        .branches(big ? BRANCHES : BRANCHES_LITTLE)
        .faults(
            Map.of(
                18, new SignalAbi.Fault(SignalAbi.SIGTRAP, SignalAbi.TRAP_BRKPT),
                20, new SignalAbi.Fault(SignalAbi.SIGILL, SignalAbi.KERNEL),
                22, new SignalAbi.Fault(SignalAbi.SIGTRAP, SignalAbi.KERNEL)))
        .lost(18, big ? "0[0-3]....[048c]d" : "[048c]d....0[0-3]") // break
        .lost(20, "")
        .lost(22, big ? TRAPS : TRAPS_LITTLE)
        // break and traps with the codes 7 and 6
        .coded(
            big ? "0007000d|000001cd|0[0-3]..01f[0-46]" : "0d000700|cd010000|f[0-46]01..0[0-3]",
            SignalAbi.SIGFPE,
            SignalAbi.FPE_INTDIV)
        .coded(
            big ? "0006000d|0000018d|0[0-3]..01b[0-46]" : "0d000600|8d010000|b[0-46]01..0[0-3]",
            SignalAbi.SIGFPE,
            SignalAbi.FPE_INTOVF)
        .hidden()
        .build();
  }

  private static int[] everySecond(int first) {
    return IntStream.range(0, 16).map(i -> first + 2 * i).toArray();
  }

  private static Registers registers(int wordBytes) {
    return new Registers(
        UC_MIPS_REG_PC,
        UC_MIPS_REG_SP,
        UC_MIPS_REG_RA,
        UC_MIPS_REG_FP,
        UC_MIPS_REG_CP0_USERLOCAL,
        UC_MIPS_REG_2,
        List.of(
            new Registers.Named("v0", UC_MIPS_REG_2, wordBytes),
            new Registers.Named("v1", UC_MIPS_REG_3, wordBytes),
            new Registers.Named("f0", UC_MIPS_REG_F0, 8),
            new Registers.Named("f2", UC_MIPS_REG_F2, 8)));
  }

  /** The conventions of o32. */
  private static List<AbiCard> o32(ByteOrder order) {
    int[] stub = {0x27bd_0008, JR_31, MOVE_31_1}; // addiu $sp,$sp,8; jr $31; move $31,$1
    String nop = hex(order, ADDIU_SP_8) + STAYS;
    return List.of(mcountRa(order, nop, stub), mcount(order, nop, stub));
  }

  /** The conventions of n64. */
  private static List<AbiCard> n64(ByteOrder order) {
    int[] stub = {JR_31, MOVE_31_1};
    String nop = hex(order, 0) + STAYS;
    return List.of(mcountRa(order, nop, stub), mcount(order, nop, stub));
  }

  private static AbiCard mcount(ByteOrder order, String nops, int... stub) {
    return common("mcount", order, nops, stub)
        .flags("-pg")
        .prologue(toTheEndOfTheCall(order, savedByPrologue(order)))
        .slots(
            Slot.saved(Operand.register(UC_MIPS_REG_SP))
                .retpByFrame(Operand.register(UC_MIPS_REG_SP)),
            inALeaf())
        .remark("the slot is found by reading the prologue")
        .build();
  }

  private static AbiCard mcountRa(ByteOrder order, String nops, int... stub) {
    return common("mcount-ra", order, nops, stub)
        .flags("-pg -mmcount-ra-address")
        .prologue(toTheEndOfTheCall(order, toldInRegister(order)))
        .slots(
            Slot.memory(Operand.register(UC_MIPS_REG_12))
                .retpByFrame(Operand.register(UC_MIPS_REG_SP)),
            inALeaf())
        .remark("the compiler gives the address of the slot")
        .build();
  }

  private static AbiCard.Builder common(String name, ByteOrder order, String nops, int... stub) {
    return AbiCard.named(name)
        .moment(Moment.AFTER_PROLOGUE)
        .arguments(UC_MIPS_REG_4, UC_MIPS_REG_5, UC_MIPS_REG_6, UC_MIPS_REG_7)
        // a static link puts a stub in front of glibc's, which is position-independent
        .symbols("_mcount", ".pic._mcount")
        .callForms(jal(order), bal(order), jalr(order))
        .callRelocations(0, 4, 37) // R_MIPS_26, R_MIPS_JALR
        .nop(nops)
        .entryStub(HexFormat.of().formatHex(Encoding.words(order, stub)))
        .returnAddress(Operand.register(UC_MIPS_REG_RA))
        .parent(Operand.register(UC_MIPS_REG_1))
        .retpAtExit(Operand.register(UC_MIPS_REG_SP))
        .reads(new MipsLink(order).reads());
  }

  /** A function that saves its return address nowhere gets it back from _mcount. */
  private static Slot inALeaf() {
    return Slot.register(UC_MIPS_REG_1, Operand.register(UC_MIPS_REG_SP))
        .whereNotSaved()
        .retpByFrame(Operand.register(UC_MIPS_REG_SP));
  }

  /** {@code jal target} and its delay slot. */
  private static CallForm jal(ByteOrder order) {
    long within = 0x0fff_ffffL;
    return call(
        order,
        "jal",
        JAL,
        OPCODE,
        (at, word) -> ((at + 4) & ~within) | (Integer.toUnsignedLong(word << 2) & within));
  }

  /** {@code bal target} and its delay slot. */
  private static CallForm bal(ByteOrder order) {
    return call(order, "bal", BAL, HIGH_HALF, (at, word) -> at + 4 + ((long) (short) word << 2));
  }

  /** {@code jalr $25} and its delay slot, in position-independent code. */
  private static CallForm jalr(ByteOrder order) {
    return call(order, "jalr t9", JALR_25, ALL, (at, word) -> at)
        .through(
            (program, function, call, _) ->
                passesParent(order, program, call)
                    ? new Values(order, program)
                        .loaded(first(order, program, function.getAsLong(), call), call)
                    : OptionalLong.empty());
  }

  /** Computes where a call goes, by its first word as the architecture's manual writes it. */
  @FunctionalInterface
  private interface WordTarget {
    long of(long at, int word);
  }

  private static CallForm call(
      ByteOrder order, String text, int pattern, int mask, WordTarget target) {
    return order == ByteOrder.BIG_ENDIAN
        ? CallForm.big(
            text,
            8,
            (long) pattern << 32,
            (long) mask << 32,
            (at, code) -> target.of(at, (int) (code >>> 32)))
        : CallForm.bits(
            text,
            8,
            Integer.toUnsignedLong(pattern),
            Integer.toUnsignedLong(mask),
            (at, code) -> target.of(at, (int) code));
  }

  /** True where {@code move $1,$31} stands at most so far in front of a call, or behind it. */
  private static boolean passesParent(ByteOrder order, Code code, long call) {
    for (long at = call + 4; at > call - PARENT_MOST; at -= 4) {
      int word = word(order, code, at);
      if (word == 0x03e0_0825 || word == 0x03e0_0821 || word == 0x03e0_082d) {
        return true;
      }
    }
    return false;
  }

  private static int word(ByteOrder order, Code code, long at) {
    return Code.word(order, code.at(at));
  }

  /**
   * The first instruction of a function. Where no symbol has it, it is looked for up to what ends
   * the one in front, since prologues have no branches; {@link #NOWHERE} if that is too far.
   */
  private static long first(ByteOrder order, Code code, long function, long site) {
    if (function != site) {
      return function;
    }
    long at = site;
    while (!isBranch(word(order, code, at - 8))) {
      at -= 4;
      if (site - at >= PROLOGUE_MOST) {
        return NOWHERE;
      }
    }
    while (at < site && word(order, code, at) == 0) { // between functions
      at += 4;
    }
    return at;
  }

  /**
   * What the code of a prologue computes: the registers as far as they are known, and of those that
   * were loaded the word in memory.
   */
  private static final class Values {
    private final ByteOrder order;
    private final Code code;
    private final OptionalLong[] values = new OptionalLong[32];
    private final OptionalLong[] words = new OptionalLong[32];

    Values(ByteOrder order, Code code) {
      this.order = order;
      this.code = code;
      Arrays.fill(values, OptionalLong.empty());
      Arrays.fill(words, OptionalLong.empty());
      values[0] = OptionalLong.of(0);
    }

    /** The word that the register of a call was loaded from. */
    OptionalLong loaded(long function, long call) {
      if (Long.compareUnsigned(call - function, PROLOGUE_MOST) > 0) {
        return OptionalLong.empty();
      }
      values[CALLED] = OptionalLong.of(function); // by the caller
      boolean calls = false;
      for (long at = function; at < call; at += 4) {
        int word = word(order, code, at);
        step(word);
        if (calls) { // that was its delay slot
          forgetLost();
        }
        calls = word >>> 26 == 3 || (word & 0xfc00_003f) == 9; // jal, jalr
      }
      return words[CALLED];
    }

    /** Registers that a call does not keep: $1 to $15, $24, $25 and $31. */
    private void forgetLost() {
      for (int register = 1; register < 32; register++) {
        if (register < 16 || register == 24 || register == CALLED || register == LINK) {
          set(register, OptionalLong.empty());
        }
      }
    }

    private void step(int word) {
      int opcode = word >>> 26;
      int s = word >>> 21 & 31;
      int t = word >>> 16 & 31;
      switch (opcode) {
        case 0 -> { // addu, or, daddu
          int function = word & 63;
          boolean adds = function == 0x21 || function == 0x25 || function == 0x2d;
          set(word >>> 11 & 31, adds ? sum(values[s], values[t]) : OptionalLong.empty());
        }
        case 0x0f -> set(t, OptionalLong.of((long) word << 48 >> 32)); // lui
        case 0x09, 0x19 -> set(t, sum(values[s], OptionalLong.of((short) word))); // addiu, daddiu
        case 0x23, 0x37 -> { // lw, ld
          OptionalLong from = sum(values[s], OptionalLong.of((short) word));
          set(t, OptionalLong.empty());
          words[t] = from;
        }
        default -> {
          boolean writes = opcode >>> 3 == 1 || opcode >>> 3 == 4 || opcode >>> 2 == 6;
          set(writes ? t : 0, OptionalLong.empty());
        }
      }
    }

    private void set(int register, OptionalLong value) {
      if (register != 0) {
        values[register] = value;
        words[register] = OptionalLong.empty();
      }
    }

    private static OptionalLong sum(OptionalLong a, OptionalLong b) {
      return a.isPresent() && b.isPresent()
          ? OptionalLong.of(a.getAsLong() + b.getAsLong())
          : OptionalLong.empty();
    }
  }

  private static Prologue toTheEndOfTheCall(ByteOrder order, Prologue walk) {
    return (code, function, site, after) ->
        walk.scan(code, first(order, code, function, site), after, after);
  }

  /** Where f itself says where it saved $31, this is the other convention. */
  private static StackWalk savedByPrologue(ByteOrder order) {
    return walk(
        order,
        Form.word(order, "sw $31,n($sp)", 0xafbf_0000, HIGH_HALF, (w, f) -> f.save((short) w)),
        Form.word(order, "sd $31,n($sp)", 0xffbf_0000, HIGH_HALF, (w, f) -> f.save((short) w)),
        Form.word(order, "addiu $12,$sp,n", 0x27ac_0000, HIGH_HALF, (w, f) -> f.lose()),
        Form.word(order, "daddiu $12,$sp,n", 0x67ac_0000, HIGH_HALF, (w, f) -> f.lose()),
        Form.word(order, "move $12,$0", 0x0000_6025, ALL, (w, f) -> f.lose()));
  }

  private static StackWalk toldInRegister(ByteOrder order) {
    return walk(
            order,
            Form.word(
                order, "addiu $12,$sp,n", 0x27ac_0000, HIGH_HALF, (w, f) -> f.tellSaved((short) w)),
            Form.word(
                order,
                "daddiu $12,$sp,n",
                0x67ac_0000,
                HIGH_HALF,
                (w, f) -> f.tellSaved((short) w)),
            Form.word(order, "move $12,$0", 0x0000_6025, ALL, (w, f) -> f.tellInRegister()))
        .untilTold()
        .accepting(facts -> facts.where() != Where.UNKNOWN && facts.where() != Where.UNREAD);
  }

  private static String hex(ByteOrder order, int word) {
    return HexFormat.ofDelimiter(" ").formatHex(Encoding.words(order, word));
  }

  /** jr, jalr; bltz to bgezall; j, jal; beq to bgtz; beql to bgtzl. */
  private static boolean isBranch(int word) {
    int opcode = word >>> 26;
    boolean jumps = opcode == 0 && (word & 0x3e) == 8;
    return jumps || opcode >>> 1 == 1 || leaves(opcode);
  }

  private static boolean leaves(int opcode) {
    return opcode == 1 || opcode == 2 || (opcode & 0b10_1100) == 0b00_0100;
  }

  /** Branches, of which prologues have loops only, and what else writes $sp. */
  private static boolean isUnread(int word) {
    int opcode = word >>> 26;
    boolean branches = leaves(opcode);
    boolean computes = opcode == 0 && (word >>> 11 & 31) == SP;
    boolean immediate = opcode >>> 3 == 1 || opcode == 0x18 || opcode == 0x19;
    return branches || computes || (immediate && (word >>> 16 & 31) == SP);
  }

  /** Follows $sp. */
  private static StackWalk walk(ByteOrder order, Form... more) {
    Stream<Form> frame =
        Stream.of(
            Form.word(
                order, "addiu $sp,$sp,n", 0x27bd_0000, HIGH_HALF, (w, f) -> f.grow(-(short) w)),
            Form.word(
                order, "daddiu $sp,$sp,n", 0x67bd_0000, HIGH_HALF, (w, f) -> f.grow(-(short) w)),
            Form.word(order, "lui $3,n", 0x3c03_0000, HIGH_HALF, (w, f) -> f.load(w << 16)),
            Form.word(order, "li $3,n", 0x3403_0000, HIGH_HALF, (w, f) -> f.load(w & 0xffff)),
            Form.word(
                order, "ori $3,$3,n", 0x3463_0000, HIGH_HALF, (w, f) -> f.addToLoaded(w & 0xffff)),
            Form.word(order, "subu $sp,$sp,$3", 0x03a3_e823, ALL, (w, f) -> f.grow(f.loaded())),
            Form.word(order, "dsubu $sp,$sp,$3", 0x03a3_e82f, ALL, (w, f) -> f.grow(f.loaded())));
    return StackWalk.of(code -> 4, Stream.concat(frame, Stream.of(more)).toArray(Form[]::new))
        .upTo(code -> isUnread(Code.word(order, code)))
        .accepting(facts -> facts.where() != Where.UNKNOWN);
  }

  /** {@code b tail; lui $1,%hi(mailbox)}, and {@code lw $31,%lo(mailbox)($1); jr $31; nop}. */
  private static LandingCode landing(ByteOrder order, int wordBytes) {
    int load = wordBytes == 8 ? 0xdc3f_0000 : 0x8c3f_0000;
    return new LandingCode(
        8,
        (at, tail, mailbox) ->
            Encoding.words(
                order,
                0x1000_0000 | ((int) ((tail - (at + 4)) >> 2) & 0xffff),
                0x3c01_0000 | ((int) ((mailbox + 0x8000) >> 16) & 0xffff)),
        (at, mailbox) -> Encoding.words(order, load | ((int) mailbox & 0xffff), JR_31, 0),
        LandingCode.Trampoline.NONE);
  }

  /** Exceptions by QEMU's numbers (target/mips/cpu.h), which Unicorn reports. */
  private static Isa.Stops stops(ByteOrder order) {
    return new Isa.Stops(
        List.of(Encoding.words(order, 0x1000_ffff, 0)), // b .; nop
        Map.of(
            12, "address error on load or fetch",
            13, "address error on store",
            16, "debug breakpoint",
            18, "breakpoint",
            19, "coprocessor unusable",
            20, "reserved instruction",
            21, "integer overflow",
            22, "trap",
            23, "floating point"));
  }
}
