package dev.retstack.schema.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What one side writes the other reads; what others wrote is words. */
class EndDetailTest {
  @Test
  void codesComeBack() {
    for (int code : new int[] {0, 1, 127, 255, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
      assertThat(EndDetail.exitCode(EndDetail.exited(code))).hasValue(code);
      assertThat(EndDetail.exitCode(EndDetail.returned(code))).hasValue(code);
    }
    assertThat(EndDetail.exitCode(EndDetail.killed(6, "abort"))).hasValue(134);
  }

  @Test
  void placesComeBack() {
    assertThat(EndDetail.place("read of 0x10" + EndDetail.byPc("main+0x14 (0x100f54)") + ": why"))
        .hasValue(0x100f54);
    assertThat(EndDetail.place("it" + EndDetail.byPc("0xffffffff80001000")))
        .hasValue(0xffffffff80001000L);
    assertThat(EndDetail.place(EndDetail.waiting("main+0x4 (0x1004)", true))).hasValue(0x1004);
    assertThat(EndDetail.waits(EndDetail.waiting("0x4", false))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "exited with code ",
        "exited with code 99999999999",
        "exited with code 1 and more",
        "killed by signal 9999: x",
        "by pc",
        "by pc nowhere",
        "by pc 0x",
        "by pc x (0x11111111111111111)"
      })
  void otherWordsAreWords(String detail) {
    assertThat(EndDetail.exitCode(detail)).isEqualTo(OptionalInt.empty());
    assertThat(EndDetail.place(detail)).isEqualTo(OptionalLong.empty());
    assertThat(EndDetail.waits(detail)).isFalse();
  }
}
