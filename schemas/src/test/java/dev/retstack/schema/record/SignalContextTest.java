package dev.retstack.schema.record;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SignalContextTest {
  @Test
  void signalsHaveNamesAndOtherInterruptsTheirNumber() {
    assertThat(SignalContext.name(SignalContext.number(1))).isEqualTo("SIGHUP");
    assertThat(SignalContext.name(SignalContext.number(14))).isEqualTo("SIGALRM");
    assertThat(SignalContext.name(SignalContext.number(31))).isEqualTo("SIGSYS");
    assertThat(SignalContext.text(SignalContext.number(64))).isEqualTo("SIGRT64");
    assertThat(SignalContext.text(SignalContext.number(SignalContext.EMT))).isEqualTo("SIGEMT");
    assertThat(SignalContext.text(SignalContext.number(65))).isEqualTo("interrupt 65601");
    assertThat(SignalContext.text(SignalContext.number(0))).isEqualTo("interrupt 65536");
    assertThat(SignalContext.text(32)).isEqualTo("interrupt 32");
    assertThat(SignalContext.name(-1)).isEqualTo("-1");
  }
}
