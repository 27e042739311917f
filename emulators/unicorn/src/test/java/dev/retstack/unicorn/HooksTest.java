package dev.retstack.unicorn;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every kind of hook is called with what the guest did. */
class HooksTest {
  private static final String THREE_INSTRUCTIONS =
      """
      ff c0             0  inc %eax
      ff c3             2  inc %ebx
      90                4  nop
      """;

  private final List<String> seen = new ArrayList<>();

  @Test
  void codeHookSeesEachInstructionOfItsRangeOnly() {
    try (Unicorn uc = X86.load(THREE_INSTRUCTIONS)) {
      uc.hook_add_code(
          (address, size) -> seen.add("%x+%d".formatted(address, size)),
          X86.CODE + 2,
          X86.CODE + 3);
      X86.run(uc, 5);
      assertThat(seen).containsExactly("10002+2");
    }
  }

  @Test
  void blockHookSeesBlocks() {
    try (Unicorn uc = X86.load("eb 02 90 90 ff c0       jmp +2; nop; nop; inc %eax")) {
      uc.hook_add_block((address, size) -> seen.add("%x".formatted(address)), 1, 0);
      X86.run(uc, 6);
      assertThat(seen).startsWith("10000", "10004");
    }
  }

  @Test
  void interruptHookSeesSystemCallsOfThreeIsas() {
    try (Unicorn uc = X86.load("cd 80                   int $0x80")) {
      uc.hook_add_intr(number -> seen.add("x86 " + number));
      X86.run(uc, 2);
    }
    interrupt(GuestProgram.AARCH64, "01 00 00 d4             svc #0");
    interrupt(GuestProgram.RISCV64, "73 00 00 00             ecall");
    assertThat(seen).containsExactly("x86 128", "AARCH64 2", "RISCV64 8");
  }

  private void interrupt(GuestProgram program, String listing) {
    try (Unicorn uc = program.load()) {
      uc.mem_write(GuestProgram.CODE, GuestProgram.assemble(listing));
      uc.hook_add_intr(
          number -> {
            seen.add(program + " " + number);
            uc.emu_stop();
          });
      uc.emu_start(GuestProgram.CODE, program.stop);
    }
  }

  @Test
  void instructionHookSeesSyscall() {
    try (Unicorn uc = X86.load("0f 05                   syscall")) {
      uc.reg_write(X86Const.UC_X86_REG_RAX, 60);
      uc.hook_add_insn(
          () -> seen.add("syscall " + uc.reg_read(X86Const.UC_X86_REG_RAX)),
          X86Const.UC_X86_INS_SYSCALL);
      X86.run(uc, 2);
      assertThat(seen).containsExactly("syscall 60");
      assertThatThrownBy(() -> uc.hook_add_insn(() -> {}, X86Const.UC_X86_INS_IN))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("hook_add_in");
    }
  }

  @Test
  void portHooksSeeInAndOut() {
    try (Unicorn uc =
        X86.load(
            """
            e5 40             0  in  $0x40,%eax
            e6 41             2  out %al,$0x41
            """)) {
      uc.hook_add_in(
          (port, size) -> {
            seen.add("in %x %d".formatted(port, size));
            return 0x1234;
          });
      uc.hook_add_out((port, size, value) -> seen.add("out %x %d %x".formatted(port, size, value)));
      X86.run(uc, 4);
      assertThat(seen).containsExactly("in 40 4", "out 41 1 34");
    }
  }

  @Test
  void memoryHookSeesAccesses() {
    try (Unicorn uc =
        X86.load(
            """
            66 c7 07 fe ff    0  movw $-2,(%rdi)
            8b 47 04          5  mov  4(%rdi),%eax
            """)) {
      uc.hook_add_mem(
          UcConst.UC_HOOK_MEM_READ | UcConst.UC_HOOK_MEM_WRITE,
          (type, address, size, value) ->
              seen.add("%d %x %d %d".formatted(type, address, size, (short) value)),
          X86.DATA,
          X86.DATA + 15);
      X86.run(uc, 8);
      assertThat(seen)
          .containsExactly(
              UcConst.UC_MEM_WRITE + " 20000 2 -2", UcConst.UC_MEM_READ + " 20004 4 0");
      assertThatThrownBy(() -> uc.hook_add_mem(UcConst.UC_HOOK_CODE, (t, a, s, v) -> true, 1, 0))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void memoryHookMayMapWhatIsMissing() {
    try (Unicorn uc = X86.load("c7 07 05 00 00 00       movl $5,(%rdi)")) {
      uc.reg_write(X86Const.UC_X86_REG_RDI, 0x55008);
      uc.hook_add_mem(
          UcConst.UC_HOOK_MEM_INVALID,
          (type, address, size, value) -> {
            seen.add("%d %x".formatted(type, address));
            uc.mem_map(address & -X86.PAGE, X86.PAGE, UcConst.UC_PROT_WRITE);
            return true;
          },
          1,
          0);
      X86.run(uc, 6);
      assertThat(seen).containsExactly(UcConst.UC_MEM_WRITE_UNMAPPED + " 55008");
    }
  }

  @Test
  void invalidInstructionHookMayGoOnElsewhere() {
    try (Unicorn uc = X86.load("0f ff ff c0             (undefined); inc %eax")) {
      assertThatThrownBy(() -> X86.run(uc, 4))
          .isInstanceOfSatisfying(
              UnicornException.class, e -> assertThat(e.error()).isEqualTo(UcError.INSN_INVALID));
      uc.hook_add_insn_invalid(
          () -> {
            uc.reg_write(X86Const.UC_X86_REG_RIP, X86.CODE + 2);
            return true;
          });
      X86.run(uc, 4);
      assertThat(uc.reg_read(X86Const.UC_X86_REG_RAX)).isEqualTo(1);
    }
  }

  @Test
  void deletedHookIsSilentAndItsSlotIsFree() {
    int before = Unicorn.liveHooks();
    try (Unicorn uc = X86.load(THREE_INSTRUCTIONS);
        Unicorn other = X86.open()) {
      Hook hook = uc.hook_add_code((address, size) -> seen.add("deleted"), 1, 0);
      assertThat(Unicorn.liveHooks()).isEqualTo(before + 1);
      assertThatThrownBy(() -> other.hook_del(hook)).isInstanceOf(IllegalArgumentException.class);
      uc.hook_del(hook);
      assertThat(Unicorn.liveHooks()).isEqualTo(before);
      X86.run(uc, 5);
      assertThat(seen).isEmpty();
      assertThatThrownBy(() -> uc.hook_del(hook)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void hookThatDeletesItselfIsNotCalledAgain() {
    try (Unicorn uc = X86.load(THREE_INSTRUCTIONS)) {
      Hook[] hook = new Hook[1];
      hook[0] =
          uc.hook_add_code(
              (address, size) -> {
                seen.add("once");
                uc.hook_del(hook[0]);
              },
              1,
              0);
      X86.run(uc, 5);
      assertThat(seen).containsExactly("once");
      assertThat(uc.reg_read(X86Const.UC_X86_REG_RBX)).isEqualTo(1);
    }
  }

  @Test
  @SuppressWarnings("restricted")
  void nativeHookIsCalledByCWithItsUserData() throws ReflectiveOperationException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment userData = arena.allocate(JAVA_LONG);
      MemorySegment callback =
          Linker.nativeLinker()
              .upcallStub(
                  MethodHandles.lookup()
                      .findStatic(
                          HooksTest.class,
                          "count",
                          MethodType.methodType(
                              void.class, long.class, long.class, int.class, MemorySegment.class)),
                  FunctionDescriptor.ofVoid(
                      JAVA_LONG,
                      JAVA_LONG,
                      JAVA_INT,
                      java.lang.foreign.ValueLayout.ADDRESS.withTargetLayout(JAVA_LONG)),
                  arena);
      int live = Unicorn.liveHooks();
      try (Unicorn uc = X86.load(THREE_INSTRUCTIONS)) {
        Hook hook = uc.hook_add_native(UcConst.UC_HOOK_CODE, callback, userData, 1, 0);
        assertThat(Unicorn.liveHooks()).isEqualTo(live); // C's own: no slot of ours
        X86.run(uc, 5);
        assertThat(userData.get(JAVA_LONG, 0)).isEqualTo(3);
        uc.hook_del(hook);
        X86.run(uc, 5);
        assertThat(userData.get(JAVA_LONG, 0)).isEqualTo(3);
      }
    }
  }

  @SuppressWarnings("unused") // called by C
  private static void count(long uc, long address, int size, MemorySegment counter) {
    counter.set(JAVA_LONG, 0, counter.get(JAVA_LONG, 0) + 1);
  }
}
