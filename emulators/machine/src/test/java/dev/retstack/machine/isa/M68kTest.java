package dev.retstack.machine.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.testing.Listing;
import org.junit.jupiter.api.Test;

/** m68k as an assembler writes it. */
final class M68kTest {
  private static final long AT = 0x10_1988;
  private static final AbiCard PATCHABLE = M68k.ISA.convention("patchable").orElseThrow();

  @Test
  void aLinkBehindTheNopsIsAFrame() {
    String nops = "4e 71 4e 71 4e 71 ";

    assertThat(keepsFrame(nops + "4e 56 00 00")).as("link.w %%a6,#0").isTrue();
    assertThat(keepsFrame(nops + "48 0e ff ff 00 00")).as("link.l %%a6,#-65536").isTrue();
    assertThat(keepsFrame(nops + "48 e7 20 30")).as("movem.l").isFalse();
    assertThat(keepsFrame(nops + "4e 55 00 00")).as("link.w %%a5,#0").isFalse();
  }

  private static boolean keepsFrame(String code) {
    return Listing.at(AT, code).facts(PATCHABLE, AT).orElseThrow().keepsFrame();
  }

  @Test
  void callsGoWhereObjdumpSays() {
    AbiCard mcount = M68k.ISA.convention("mcount").orElseThrow();
    CallForm near = mcount.callForms().getFirst();
    CallForm absolute = mcount.callForms().getLast();

    // 1019fc: 61ff ffff e6a2  bsr.l 1000a0
    long call = Listing.at(AT, "61 ff ff ff e6 a2").at(AT);
    assertThat(near.matches(call)).isTrue();
    assertThat(near.target().of(0x10_19fc, call)).isEqualTo(0x10_00a0);
    // 4eb9 0010 00a0  jsr 1000a0
    long jump = Listing.at(AT, "4e b9 00 10 00 a0").at(AT);
    assertThat(absolute.matches(jump)).isTrue();
    assertThat(absolute.target().of(AT, jump)).isEqualTo(0x10_00a0);
    assertThat(near.matches(jump)).isFalse();
  }

  @Test
  void theLandingPageIsWhatAnAssemblerWrites() {
    // jmp ([0x7ffdd000])
    assertThat(Listing.hex(M68k.ISA.landing().slot().code(AT, 0, 0x7ffd_d000L)))
        .isEqualTo("4e f0 01 f1 7f fd d0 00");
  }
}
