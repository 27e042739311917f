package dev.retstack.machine.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** Prologues and calls that gcc 12.2 makes and the zoo does not have, or would not notice. */
class ArmTest {
  private static final Prologues A32 = new Prologues(Arm.A32.PROLOGUE);
  private static final Prologues THUMB = new Prologues(Arm.Thumb.PROLOGUE);

  @Test
  void anApcsFrame() {
    // mov ip,sp; push {fp,ip,lr,pc}; sub fp,ip,#4; vpush {d8}; sub sp,sp,#8; push {lr}
    SiteFacts facts =
        A32.scan("e1a0c00d e92dd800 e24cb004 ed2d8b02 e24dd008 e52de004").orElseThrow();
    assertThat(facts).isEqualTo(new SiteFacts(Where.SAVED, 28, 36, true, false));
  }

  @Test
  void anApcsFrameUnderRegisterArguments() {
    // mov ip,sp; push {r0-r3}; push {fp,ip,lr,pc}; sub fp,ip,#20; sub sp,sp,#8; push {lr}
    SiteFacts facts =
        A32.scan("e1a0c00d e92d000f e92dd800 e24cb014 e24dd008 e52de004").orElseThrow();
    assertThat(facts).isEqualTo(new SiteFacts(Where.SAVED, 20, 44, true, false));
  }

  @Test
  void aFrameOfAnotherKindIsNone() {
    // push {fp,lr}; add fp,sp,#4; sub sp,sp,#2992; sub sp,sp,#8; push {lr}
    SiteFacts facts = A32.scan("e92d4800 e28db004 e24ddebb e24dd008 e52de004").orElseThrow();
    assertThat(facts).isEqualTo(new SiteFacts(Where.SAVED, 3008, 3012, false, false));
    assertThat(new Prologues(card("mcount").prologue()).scan("e92d4800 e28db004 e52de004"))
        .isEmpty();
    assertThat(new Prologues(card("mcount-nofp").prologue()).scan("e92d4800 e28db004 e52de004"))
        .isPresent();
  }

  @Test
  void bigFramesOfA32() {
    // push {lr}; sub sp,sp,#9961472; sub sp,sp,#38400; sub sp,sp,#132; push {lr}
    assertThat(A32.savedAt("e52de004 e24dd726 e24ddc96 e24dd084 e52de004"))
        .isEqualTo(9_961_472 + 38_400 + 132 + 4);
  }

  @Test
  void aLeafReturnsByWhatTheCallPushed() {
    // push {r4,fp}; add fp,sp,#4; push {lr}
    assertThat(A32.scan("e92d0810 e28db004 e52de004"))
        .contains(new SiteFacts(Where.SAVED, 0, 12, false, false));
    // push {r3,r7}; add r7,sp,#0; push {lr}
    assertThat(THUMB.scan("b488 af00 b500"))
        .contains(new SiteFacts(Where.SAVED, 0, 12, false, false));
  }

  @Test
  void framesOfThumb() {
    // push {r7,lr}; sub sp,#8; add r7,sp,#0; push {lr}
    assertThat(THUMB.savedAt("b580 b082 af00 b500")).isEqualTo(4 + 8 + 4);
    // push {r0-r3}; push {lr}; sub sp,#12; push {lr}: variadic
    assertThat(THUMB.scan("b40f b500 b083 b500"))
        .contains(new SiteFacts(Where.SAVED, 16, 36, false, false));
    // stmdb sp!,{r3-r9,lr}; vpush {d8-d9}; push {lr}
    assertThat(THUMB.savedAt(wide("e92d 43f8") + wide("ed2d 8b04") + "b500"))
        .isEqualTo(28 + 16 + 4);
    // str.w lr,[sp,#-4]!; add sp,#8; push {lr}
    assertThat(THUMB.savedAt(wide("f84d ed04") + "b083 b002 b500")).isEqualTo(12 - 8 + 4);
  }

  @Test
  void bigFramesOfThumb() {
    // push {lr}; subw sp,sp,#3004; push {lr}
    assertThat(THUMB.savedAt("b500" + wide("f6ad 3dbc") + "b500")).isEqualTo(3004 + 4);
    // push {lr}; sub.w sp,sp,#99840; sub sp,#164; push {lr}
    assertThat(THUMB.savedAt("b500" + wide("f5ad 3dc3") + "b0a9 b500")).isEqualTo(99_840 + 164 + 4);
    // push {lr}; sub.w sp,sp,#9961472; sub.w sp,sp,#38400; sub sp,#132; push {lr}
    assertThat(THUMB.savedAt("b500" + wide("f5ad 0d18") + wide("f5ad 4d16") + "b0a1 b500"))
        .isEqualTo(9_961_472 + 38_400 + 132 + 4);
  }

  @Test
  void callsOfA32() {
    CallForm bl = Arm.A32.CALLS[0];
    CallForm blx = Arm.A32.CALLS[1];
    // at 0x100570: bl 0x1000c0
    assertThat(bl.matches(0xebfffed2L)).isTrue();
    assertThat(bl.target().of(0x100570, 0xebfffed2L)).isEqualTo(0x1000c0);
    // blx .+8, and the halfword behind it
    assertThat(blx.matches(0xfa000000L)).isTrue();
    assertThat(blx.target().of(0x100000, 0xfa000000L)).isEqualTo(0x100008);
    assertThat(blx.target().of(0x100000, 0xfb000000L)).isEqualTo(0x10000a);
    assertThat(blx.target().of(0x100000, 0xfaffffffL)).isEqualTo(0x100004);
    assertThat(bl.matches(0xfa000000L)).isFalse();
  }

  @Test
  void callsOfThumb() {
    CallForm bl = Arm.Thumb.CALLS[0];
    CallForm blx = Arm.Thumb.CALLS[1];
    // at 0x100396: bl 0x1000a0; at 0x10171a likewise
    assertThat(bl.target().of(0x100396, code("f7ff fe83"))).isEqualTo(0x1000a0);
    assertThat(bl.target().of(0x10171a, code("f7fe fcc1"))).isEqualTo(0x1000a0);
    assertThat(bl.matches(code("f7ff fe83"))).isTrue();
    assertThat(blx.matches(code("f7ff fe83"))).isFalse();
    // bl .+16777218, .-16777212
    assertThat(bl.target().of(0x2000000, code("f3ff d7ff"))).isEqualTo(0x2000000 + 16_777_218);
    assertThat(bl.target().of(0x2000000, code("f400 d000"))).isEqualTo(0x2000000 - 16_777_212);
    // at 0x100002: blx 0x100004, from pc rounded down
    assertThat(blx.matches(code("f000 e800"))).isTrue();
    assertThat(blx.target().of(0x100002, code("f000 e800"))).isEqualTo(0x100004);
  }

  @Test
  void handlerSlotsLoadPcFromTheMailbox() {
    // every slot of a page reaches the word behind it: ldr pc,[pc,#n]
    for (int i = 0; i < 256; i++) {
      byte[] slot = Arm.ISA.landing().slot().code(0x7000 + 4L * i, 0x7400, 0x8000);
      int code = ByteBuffer.wrap(slot).order(ByteOrder.LITTLE_ENDIAN).getInt();
      assertThat(code & 0xffff_f000).isEqualTo(0xe59f_f000);
      assertThat(0x7000 + 4 * i + 8 + (code & 0xfff)).isEqualTo(0x8000);
    }
  }

  @Test
  void bit0OfATargetIsTheInstructionSet() {
    CodeAddresses addresses = Arm.ISA.addresses();
    assertThat(addresses.instruction(0x1001)).isEqualTo(0x1000);
    assertThat(addresses.target(0x1000, register -> 0x20)).isEqualTo(0x1001);
    assertThat(addresses.target(0x1000, register -> 0x1d3)).isEqualTo(0x1000);
  }

  private static AbiCard card(String name) {
    return Arm.ISA.convention(name).orElseThrow();
  }

  /** A 32-bit instruction of Thumb, as the listing shows its halfwords. */
  private static String wide(String halfwords) {
    return " " + halfwords + " ";
  }

  private static long code(String halfwords) {
    return Long.parseLong(halfwords.substring(5) + halfwords.substring(0, 4), 16);
  }
}
