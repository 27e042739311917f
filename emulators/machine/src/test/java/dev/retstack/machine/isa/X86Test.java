package dev.retstack.machine.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.Prologue;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** What gcc 12.2 puts around a call of the counting function, in bytes as objdump shows them. */
class X86Test {
  private static final long FUNCTION = 0x10_0000;
  private static final String CALL = "e8 00 00 00 00";

  @Test
  void aNestedFunctionsStaticChainLiesOnItsReturnAddress() {
    assertThat(fentry(8, "", "55").savedAt()).isZero();
    assertThat(fentry(8, "f3 0f 1e fa", "55").savedAt()).isZero();
    assertThat(fentry(8, "41 52", "41 5a 55").savedAt()).isEqualTo(8);
    assertThat(fentry(8, "f3 0f 1e fa 41 52", "41 5a 55").savedAt()).isEqualTo(8);
    assertThat(fentry(4, "", "55").savedAt()).isZero();
    assertThat(fentry(4, "51", "59 55").savedAt()).isEqualTo(4);
    assertThat(fentry(4, "f3 0f 1e fb 51", "59 55").savedAt()).isEqualTo(4);
    assertThat(fentry(4, "51", "59 55").where()).isEqualTo(Where.SAVED);
  }

  @Test
  void whatIsSetBehindTheCallMakesAFrame() {
    // push %rbp; mov %rsp,%rbp, and with a movq in between
    assertThat(fentry(8, "", "55 48 89 e5 c3").keepsFrame()).isTrue();
    assertThat(fentry(8, "41 52", "41 5a 55 66 48 0f 6e c7 48 89 e5").keepsFrame()).isTrue();
    assertThat(fentry(4, "51", "59 55 8b 01 83 41 04 01 89 e5").keepsFrame()).isTrue();
    // push %rbx; ...; ret; the next function has one
    assertThat(fentry(8, "", "53 89 fb 5b c3 55 48 89 e5").keepsFrame()).isFalse();
    assertThat(fentry(4, "", "8b 44 24 04 c3 55 89 e5").keepsFrame()).isFalse();
    // i386's mov %esp,%ebp is none of x86_64
    assertThat(fentry(8, "", "55 89 e5 c3").keepsFrame()).isFalse();
  }

  @Test
  void aRealignedFunctionCopiesItsReturnAddress() {
    // lea 8(%rsp),%r10; and $-64,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10; sub
    assertThat(mcount(8, "4c 8d 54 24 08 48 83 e4 c0 41 ff 72 f8 55 48 89 e5 41 52 48 83 ec 68"))
        .isTrue();
    // and $-256,%rsp
    assertThat(mcount(8, "4c 8d 54 24 08 48 81 e4 00 ff ff ff 41 ff 72 f8 55 48 89 e5")).isTrue();
    // with a static chain in %r10: push %r13; lea 16(%rsp),%r13; and; push -8(%r13)
    assertThat(mcount(8, "41 55 4c 8d 6c 24 10 48 83 e4 c0 41 ff 75 f8 55 48 89 e5")).isTrue();
    // lea 4(%esp),%ecx; and $-64,%esp; push -4(%ecx); push %ebp; mov %esp,%ebp
    assertThat(mcount(4, "8d 4c 24 04 83 e4 c0 ff 71 fc 55 89 e5 51 83 ec 7c")).isTrue();
    assertThat(mcount(4, "8d 4c 24 04 81 e4 00 ff ff ff ff 71 fc 55 89 e5 51")).isTrue();
    // push %edi; lea 8(%esp),%edi; and $-16,%esp; push -4(%edi)
    assertThat(mcount(4, "57 8d 7c 24 08 83 e4 f0 ff 77 fc 55 89 e5")).isTrue();
  }

  @Test
  void realigningAloneCopiesNothing() {
    // push %rbp; mov %rsp,%rbp; and $-64,%rsp; sub $64,%rsp
    assertThat(mcount(8, "55 48 89 e5 48 83 e4 c0 48 83 ec 40")).isFalse();
    assertThat(mcount(4, "55 89 e5 83 e4 c0 83 ec 40")).isFalse();
    // push %ebp; mov %esp,%ebp; push -4(%ecx): an argument
    assertThat(mcount(4, "55 89 e5 ff 71 fc")).isFalse();
    // lea 4(%esp),%eax; push -4(%eax)
    assertThat(mcount(4, "8d 44 24 04 ff 70 fc")).isFalse();
  }

  @Test
  void aCallBehindNoFrameIsLeftAlone() {
    assertThat(behindFrame(8, "55 48 89 e5")).isEqualTo(Where.SAVED);
    assertThat(behindFrame(8, "f3 0f 1e fa 55 48 8b ec 53")).isEqualTo(Where.SAVED);
    assertThat(behindFrame(8, "c8 10 00 00")).as("enter").isEqualTo(Where.SAVED);
    assertThat(behindFrame(4, "57 55 89 e5")).isEqualTo(Where.SAVED);
    // sub $8,%rsp; push %rbp alone; i386's mov %esp,%ebp
    assertThat(behindFrame(8, "48 83 ec 08")).isEqualTo(Where.IN_REGISTER);
    assertThat(behindFrame(8, "55")).isEqualTo(Where.IN_REGISTER);
    assertThat(behindFrame(8, "55 89 e5")).isEqualTo(Where.IN_REGISTER);
    assertThat(behindFrame(4, "83 ec 0c")).isEqualTo(Where.IN_REGISTER);
    assertThat(behindFrame(8, "")).as("no symbol").isEqualTo(Where.SAVED);
  }

  private static Where behindFrame(int wordBytes, String before) {
    return scan(X86.behindFrame(wordBytes), before, "c3").where();
  }

  @Test
  void aCallThroughTheGotIsRelativeToIt() {
    CallForm call =
        X86.I386.convention("mcount").orElseThrow().callForms().stream()
            .filter(CallForm::indirect)
            .findFirst()
            .orElseThrow();
    Code code = code("ff 93 fc ff ff ff");
    assertThat(call.matches(code.at(FUNCTION))).isTrue();
    assertThat(call.pointer().orElseThrow().of(code, () -> FUNCTION, FUNCTION, 0x10_0000))
        .hasValue(0x10_0000 - 4);
  }

  private static SiteFacts fentry(int wordBytes, String before, String behind) {
    return scan(X86.beforeFrame(wordBytes), before, behind);
  }

  private static boolean mcount(int wordBytes, String prologue) {
    return scan(X86.behindFrame(wordBytes), prologue, "c9 c3").copied();
  }

  private static SiteFacts scan(Prologue prologue, String before, String behind) {
    long site = FUNCTION + bytes(before).length;
    return prologue
        .scan(code(before + " " + CALL + " " + behind), FUNCTION, site, site + 5)
        .orElseThrow();
  }

  private static Code code(String hex) {
    byte[] bytes = bytes(hex);
    return address -> {
      long code = 0;
      for (int i = 0; i < Long.BYTES; i++) {
        int at = (int) (address - FUNCTION) + i;
        code |= at < bytes.length ? (bytes[at] & 0xffL) << (8 * i) : 0;
      }
      return code;
    };
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }
}
