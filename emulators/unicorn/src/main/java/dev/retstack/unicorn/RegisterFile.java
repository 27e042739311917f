package dev.retstack.unicorn;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The registers of one engine. Reading or writing one allocates nothing. */
final class RegisterFile {
  /** Room for the widest register (zmm, 64 bytes) and for the structs of MSR and CP_REG. */
  static final int WIDEST = 128;

  private static final int BATCH = 32;
  private static final int BATCH_STRIDE = 64;

  private final long uc;
  private final boolean x86;
  private final Arena arena;
  private final MemorySegment value;
  private boolean selectorsRefused;
  private Batch batch;

  /** Native arrays of ids and of pointers to values, made on first use. */
  private record Batch(MemorySegment ids, MemorySegment pointers, MemorySegment values) {
    static Batch allocate(Arena arena) {
      MemorySegment pointers = arena.allocate(JAVA_LONG, BATCH);
      MemorySegment values = arena.allocate((long) BATCH * BATCH_STRIDE, BATCH_STRIDE);
      for (int i = 0; i < BATCH; i++) {
        pointers.setAtIndex(JAVA_LONG, i, values.address() + (long) i * BATCH_STRIDE);
      }
      return new Batch(arena.allocate(JAVA_INT, BATCH), pointers, values);
    }
  }

  RegisterFile(long uc, int arch, Arena arena) {
    this.uc = uc;
    x86 = arch == UcConst.UC_ARCH_X86;
    this.arena = arena;
    value = arena.allocate(WIDEST, BATCH_STRIDE);
  }

  /**
   * Refuses x86 segment selectors from now on. To write one, Unicorn reads the descriptor from
   * guest memory; if a TLB hook refuses that, it jumps out of a run that there is not.
   */
  void refuseSelectors() {
    selectorsRefused = x86;
  }

  private static void checkSelector(int register) {
    switch (register) {
      case X86Const.UC_X86_REG_CS,
          X86Const.UC_X86_REG_DS,
          X86Const.UC_X86_REG_ES,
          X86Const.UC_X86_REG_FS,
          X86Const.UC_X86_REG_GS,
          X86Const.UC_X86_REG_SS ->
          throw new IllegalStateException(
              "x86 segment selector %d after hook_add_tlb_fill: write it before, or FS_BASE, GS_BASE"
                  .formatted(register));
      default -> {}
    }
  }

  long read(int register) {
    value.set(JAVA_LONG, 0, 0); // a narrow register writes only its own bytes
    int code = NativeUnicorn.uc_reg_read(uc, register, value.address());
    if (code != 0) {
      throw UnicornException.of("uc_reg_read(" + register + ")", code);
    }
    return value.get(JAVA_LONG, 0);
  }

  void write(int register, long bits) {
    if (selectorsRefused) {
      checkSelector(register);
    }
    value.set(JAVA_LONG, 0, bits);
    value.set(JAVA_LONG, Long.BYTES, 0);
    int code = NativeUnicorn.uc_reg_write(uc, register, value.address());
    if (code != 0) {
      throw UnicornException.of("uc_reg_write(" + register + ")", code);
    }
  }

  void read(int register, MemorySegment bytes) {
    checkWidth(register, bytes);
    value.fill((byte) 0).copyFrom(bytes);
    UnicornException.check(
        NativeUnicorn.uc_reg_read(uc, register, value.address()), "uc_reg_read", register);
    bytes.copyFrom(value.asSlice(0, bytes.byteSize()));
  }

  void write(int register, MemorySegment bytes) {
    checkWidth(register, bytes);
    if (selectorsRefused) {
      checkSelector(register);
    }
    value.fill((byte) 0).copyFrom(bytes);
    UnicornException.check(
        NativeUnicorn.uc_reg_write(uc, register, value.address()), "uc_reg_write", register);
  }

  void read(int[] registers, long[] out) {
    checkBatch(registers, out);
    for (int from = 0; from < registers.length; from += BATCH) {
      int count = loadIds(registers, from);
      for (int i = 0; i < count; i++) {
        batch.values.set(JAVA_LONG, (long) i * BATCH_STRIDE, 0);
      }
      UnicornException.check(
          NativeUnicorn.uc_reg_read_batch(uc, batch.ids.address(), batch.pointers.address(), count),
          "uc_reg_read_batch");
      for (int i = 0; i < count; i++) {
        out[from + i] = batch.values.get(JAVA_LONG, (long) i * BATCH_STRIDE);
      }
    }
  }

  void write(int[] registers, long[] values) {
    checkBatch(registers, values);
    if (selectorsRefused) {
      Arrays.stream(registers).forEach(RegisterFile::checkSelector);
    }
    for (int from = 0; from < registers.length; from += BATCH) {
      int count = loadIds(registers, from);
      for (int i = 0; i < count; i++) {
        batch.values.asSlice((long) i * BATCH_STRIDE, BATCH_STRIDE).fill((byte) 0);
        batch.values.set(JAVA_LONG, (long) i * BATCH_STRIDE, values[from + i]);
      }
      UnicornException.check(
          NativeUnicorn.uc_reg_write_batch(
              uc, batch.ids.address(), batch.pointers.address(), count),
          "uc_reg_write_batch");
    }
  }

  private int loadIds(int[] registers, int from) {
    if (batch == null) {
      batch = Batch.allocate(arena);
    }
    int count = Math.min(BATCH, registers.length - from);
    MemorySegment.copy(registers, from, batch.ids, JAVA_INT, 0, count);
    return count;
  }

  private static void checkBatch(int[] registers, long[] values) {
    if (values.length < registers.length) {
      throw new IllegalArgumentException(
          "%d registers but %d values: give an array as long"
              .formatted(registers.length, values.length));
    }
  }

  private static void checkWidth(int register, MemorySegment bytes) {
    if (bytes.byteSize() > WIDEST) {
      throw new IllegalArgumentException(
          "%d bytes for register %d: no register has more than %d"
              .formatted(bytes.byteSize(), register, WIDEST));
    }
  }
}
