package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a hook throws arrives at the caller of emu_start, and the engine lives on. */
class HookExceptionsTest {
  private static final String INCREMENT =
      """
      ff c3             0  inc %ebx
      """;

  /** The hook of a kind, and code that makes it fire. */
  enum Kind {
    CODE("90                nop") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_code((address, size) -> body.run(), 1, 0);
      }
    },
    BLOCK("90                nop") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_block((address, size) -> body.run(), 1, 0);
      }
    },
    INTERRUPT("cd 80             int $0x80") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_intr(number -> body.run());
      }
    },
    INSTRUCTION("0f 05             syscall") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_insn(body::run, X86Const.UC_X86_INS_SYSCALL);
      }
    },
    INVALID_INSTRUCTION("0f ff             (undefined)") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_insn_invalid(
            () -> {
              body.run();
              return true;
            });
      }
    },
    PORT_IN("e5 40             in $0x40,%eax") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_in(
            (port, size) -> {
              body.run();
              return 0;
            });
      }
    },
    PORT_OUT("e6 41             out %al,$0x41") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_out((port, size, value) -> body.run());
      }
    },
    MEMORY("8b 07             mov (%rdi),%eax") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_mem(UcConst.UC_HOOK_MEM_READ, (t, a, s, v) -> ran(body), 1, 0);
      }
    },
    MEMORY_UNMAPPED("a1 00 00 00 70 00 movabs 0x..70000000,%eax") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        return uc.hook_add_mem(UcConst.UC_HOOK_MEM_INVALID, (t, a, s, v) -> ran(body), 1, 0);
      }
    },
    TLB_FILL("8b 07             mov (%rdi),%eax") {
      @Override
      Hook add(Unicorn uc, Runnable body) {
        uc.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
        return uc.hook_add_tlb_fill(
            (address, type, result) -> {
              if (address == X86.DATA) {
                body.run();
              }
              result.set(address, UcConst.UC_PROT_ALL);
              return true;
            });
      }
    };

    private final String listing;

    Kind(String listing) {
      this.listing = listing;
    }

    abstract Hook add(Unicorn uc, Runnable body);

    private static boolean ran(Runnable body) {
      body.run();
      return true;
    }
  }

  /** Neither a RuntimeException nor known to the binding. */
  private static final class Mishap extends Error {}

  @ParameterizedTest
  @EnumSource
  void throwableIsRethrownAsItIsAndTheEngineIsUsableAfterwards(Kind kind) {
    Mishap mishap = new Mishap();
    int[] calls = new int[1];
    try (Unicorn uc = X86.load(kind.listing)) {
      Hook hook =
          kind.add(
              uc,
              () -> {
                calls[0]++;
                throw mishap;
              });
      assertThatThrownBy(() -> uc.emu_start(X86.CODE, X86.CODE + 0x100)).isSameAs(mishap);
      assertThat(calls[0]).isPositive();

      uc.hook_del(hook);
      uc.mem_write(X86.CODE, GuestProgram.assemble(INCREMENT));
      uc.ctl_remove_cache(X86.CODE, X86.CODE + 16);
      X86.run(uc, 2);
      assertThat(uc.reg_read(X86Const.UC_X86_REG_RBX)).isEqualTo(1);
    }
  }

  @Test
  void tlbEntryDiesWithItsHook() {
    TlbEntry[] kept = new TlbEntry[1];
    try (Unicorn uc = X86.load(INCREMENT)) {
      uc.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
      uc.hook_add_tlb_fill(
          (address, type, result) -> {
            kept[0] = result;
            result.set(address, UcConst.UC_PROT_ALL);
            return true;
          });
      X86.run(uc, 2);
      assertThatThrownBy(() -> kept[0].set(0, 0)).isInstanceOf(IllegalStateException.class);
    }
  }
}
