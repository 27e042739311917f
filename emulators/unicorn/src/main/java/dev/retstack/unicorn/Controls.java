package dev.retstack.unicorn;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * {@code uc_ctl} of one engine. Its control word is
 *
 * <pre>
 *  31  30 29      26 25      16 15      0
 * [ R/W  | arguments | reserved | type   ]
 * </pre>
 */
final class Controls {
  private static final int ARGUMENTS_SHIFT = 26;
  private static final int ACCESS_SHIFT = 30;

  /* struct uc_tb {uint64_t pc; uint16_t icount; uint16_t size;} */
  private static final long TB_PC = 0;
  private static final long TB_ICOUNT = 8;
  private static final long TB_SIZE = 10;
  private static final long TB_BYTES = 16;

  private final long uc;
  private final MemorySegment out;

  Controls(long uc, Arena arena) {
    this.uc = uc;
    out = arena.allocate(TB_BYTES, Long.BYTES);
  }

  static int word(int type, int arguments, int access) {
    return type | arguments << ARGUMENTS_SHIFT | access << ACCESS_SHIFT;
  }

  /** A command without arguments. */
  void command(int type, String name) {
    Unicorn.ok(NativeUnicorn.uc_ctl(uc, word(type, 0, UcConst.UC_CTL_IO_WRITE)), name);
  }

  /** Sets an {@code int}. */
  void set(int type, int value, String name) {
    Unicorn.ok(
        NativeUnicorn.uc_ctl(uc, word(type, 1, UcConst.UC_CTL_IO_WRITE), value), name, value);
  }

  /** Sets two {@code uint64_t}. */
  void set(int type, long first, long second, String name) {
    Unicorn.ok(
        NativeUnicorn.uc_ctl(uc, word(type, 2, UcConst.UC_CTL_IO_WRITE), first, second),
        name,
        first,
        second);
  }

  /** Gets a {@code uint32_t}. */
  int get(int type, String name) {
    out.set(JAVA_LONG, 0, 0);
    Unicorn.ok(
        NativeUnicorn.uc_ctl(uc, word(type, 1, UcConst.UC_CTL_IO_READ), out.address()), name);
    return out.get(JAVA_INT, 0);
  }

  /** Sets the addresses that end a run. */
  void exits(long[] exits) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = arena.allocateFrom(JAVA_LONG, exits);
      set(UcConst.UC_CTL_UC_EXITS, list.address(), exits.length, "uc_ctl_set_exits");
    }
  }

  /** Asks for the block at an address and leaves it in {@link #out}. */
  private void request(long address) {
    int word = word(UcConst.UC_CTL_TB_REQUEST_CACHE, 2, UcConst.UC_CTL_IO_READ_WRITE);
    int code = NativeUnicorn.uc_ctl(uc, word, address, out.address());
    if (code != 0) {
      throw UnicornException.of("uc_ctl_request_cache(0x%x)".formatted(address), code);
    }
  }

  int instructions(long address) {
    request(address);
    return Short.toUnsignedInt(out.get(JAVA_SHORT, TB_ICOUNT));
  }

  TranslationBlock block(long address) {
    request(address);
    return new TranslationBlock(
        out.get(JAVA_LONG, TB_PC),
        Short.toUnsignedInt(out.get(JAVA_SHORT, TB_ICOUNT)),
        Short.toUnsignedInt(out.get(JAVA_SHORT, TB_SIZE)));
  }
}
