package dev.retstack.machine.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import org.junit.jupiter.api.Test;

/** Prologues and calls that gcc 12.2 makes and the zoo does not have, or would not notice. */
class RiscvTest {
  private static final Prologues RV64 = new Prologues(Riscv.prologue(8));
  private static final Prologues RV32 = new Prologues(Riscv.prologue(4));

  @Test
  void aSmallFrame() {
    // c.addi sp,-16; c.sdsp ra,8(sp); c.sdsp s0,0(sp); c.mv s0,a0; c.mv a0,ra
    assertThat(RV64.savedAt("1141 e406 e022 842a 8506")).isEqualTo(8);
    // the same with c.swsp ra,12(sp); c.swsp s0,8(sp)
    assertThat(RV32.savedAt("1141 c606 c422 842a 8506")).isEqualTo(12);
  }

  @Test
  void aFrameOfTwoSteps() {
    // addi sp,sp,-2032; sd ra,2024(sp); addi sp,sp,-992; c.mv a0,ra
    assertThat(RV64.savedAt("81010113 7e113423 c2010113 8506")).isEqualTo(2024 + 992);
    assertThat(RV32.savedAt("81010113 7e112623 c2010113 8506")).isEqualTo(2028 + 992);
  }

  @Test
  void aFrameOfManyPages() {
    // addi sp,sp,-1712; c.lui t0,-24; sd ra,1704(sp); c.add sp,t0; c.mv a0,ra
    assertThat(RV64.savedAt("95010113 72a1 6a113423 9116 8506")).isEqualTo(1704 + (24 << 12));
    // addi sp,sp,-1680; lui t0,0xff677; sw ra,1676(sp); c.add sp,t0
    assertThat(RV32.savedAt("97010113 ff6772b7 68112623 9116 8506"))
        .isEqualTo(1676 + (0x1_0000_0000L - 0xff67_7000L));
    // lui t0,0xfffff; addi t0,t0,-16; add sp,sp,t0
    assertThat(RV64.savedAt("1101 ec06 fffff2b7 ff028293 00510133")).isEqualTo(24 + 0x1000 + 16);
    // li t0,-2048; c.li t0,-16 and c.addi t0,-16 instead
    assertThat(RV64.savedAt("1101 ec06 80000293 9116")).isEqualTo(24 + 2048);
    assertThat(RV64.savedAt("1101 ec06 52c1 12c1 9116")).isEqualTo(24 + 32);
  }

  @Test
  void aVariadicFunctionSavesItBelowItsArguments() {
    // c.addi16sp -96; c.sdsp ra,24(sp); c.mv a0,ra; c.sdsp a1,40(sp) ...
    assertThat(RV64.savedAt("711d ec06 8506 f42e f832 fc36")).isEqualTo(24);
  }

  @Test
  void aNestedFunctionPushesItsStaticChainAndPopsIt() {
    // c.addi16sp -32; sd ra,24(sp); sd s0,16(sp); c.addi sp,-8; sd t2,0(sp); ld t2,0(sp); sp,8
    assertThat(RV64.savedAt("1101 ec06 e822 1161 e01e 6382 0121")).isEqualTo(24);
    assertThat(RV64.savedAt("1101 ec06 e822 1161 e01e")).isEqualTo(32);
  }

  @Test
  void uncompressedInstructionsAreRead() {
    // addi sp,sp,-64; sd ra,56(sp); sd s0,48(sp); addi s0,sp,64
    SiteFacts facts = RV64.scan("fc010113 02113c23 02813823 04010413").orElseThrow();
    assertThat(facts.savedAt()).isEqualTo(56);
    assertThat(facts.keepsFrame()).isTrue();
  }

  @Test
  void aFramePointerIsOneWhereTheReturnAddressIsUnderIt() {
    // c.addi16sp -32; c.sdsp s0,16(sp); c.sdsp ra,24(sp); c.addi4spn s0,sp,32
    assertThat(RV64.scan("1101 e822 ec06 1000").orElseThrow().keepsFrame()).isTrue();
    assertThat(RV32.scan("1141 c422 c606 0800").orElseThrow().keepsFrame()).isTrue();
    // c.addi4spn s0,sp,16: the address of a local variable
    assertThat(RV64.scan("1101 e822 ec06 0800").orElseThrow().keepsFrame()).isFalse();
    assertThat(RV64.scan("1101 e822 ec06 01010413").orElseThrow().keepsFrame()).isFalse();
  }

  @Test
  void aFunctionThatSavesNothingSaysSo() {
    assertThat(RV64.scan("8506").orElseThrow().where()).isEqualTo(Where.IN_REGISTER);
    // auipc t1,0; jalr t0,t1: -msave-restore
    assertThat(RV64.scan("00000317 000302e7 842a 8506").orElseThrow().where())
        .isEqualTo(Where.UNREAD);
  }

  @Test
  void sitesAreOfTheCardThatFits() {
    AbiCard framed = Riscv.RISCV64.convention("mcount").orElseThrow();
    AbiCard frameless = Riscv.RISCV64.convention("mcount-nofp").orElseThrow();
    AbiCard clang = Riscv.RISCV64.convention("clang-mcount").orElseThrow();
    assertThat(new Prologues(framed.prologue()).scan("1101 e822 ec06 1000 8506")).isPresent();
    assertThat(new Prologues(frameless.prologue()).scan("1101 e822 ec06 1000 8506")).isEmpty();
    assertThat(new Prologues(framed.prologue()).scan("1101 e822 ec06 8506")).isEmpty();
    assertThat(new Prologues(frameless.prologue()).scan("1101 e822 ec06 8506")).isPresent();
    assertThat(new Prologues(clang.prologue()).scan("1101 e822 ec06 1000 8506")).isEmpty();
    // without c.mv a0,ra; the store of an argument loads nothing
    assertThat(new Prologues(clang.prologue()).scan("1101 e822 ec06 1000 fea43023")).isPresent();
    assertThat(new Prologues(framed.prologue()).scan("1101 e822 ec06 1000 fea43023")).isEmpty();
    assertThat(new Prologues(clang.prologue()).scan("1101 e822 ec06").orElseThrow().where())
        .isEqualTo(Where.UNREAD);
  }

  @Test
  void compressedCallsReachBothWays() {
    CallForm call = Riscv.CALLS_32[2];
    // c.jal encodings of gas: .+2046, .-2048, .+0x7b4, .-0x1e
    assertThat(target(call, 0x2ffd)).isEqualTo(0x10_0000 + 2046);
    assertThat(target(call, 0x3001)).isEqualTo(0x10_0000 - 2048);
  }

  private static long target(CallForm form, long code) {
    assertThat(form.matches(code)).isTrue();
    return form.target().of(0x10_0000, code);
  }
}
