package dev.retstack.machine.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.testing.Listing;
import java.util.List;
import org.junit.jupiter.api.Test;

/** s390x as an assembler writes it, and what tells its two kinds of nops apart. */
final class S390xTest {
  private static final long AT = 0x10_1f58;
  private static final String JGNOP = "c0 04 00 00 00 00";
  private static final List<AbiCard> NOPS = S390x.ISA.conventions().subList(3, 5);

  @Test
  void threeNopsAreMcountAndOneIsFentry() {
    String code = " eb af f0 50 00 24";

    assertThat(Listing.at(AT, JGNOP + code).takenBy(NOPS, AT, AT)).containsExactly("fentry-nop");
    assertThat(Listing.at(AT, JGNOP + JGNOP + JGNOP + code).takenBy(NOPS, AT, AT))
        .containsExactly("mcount-nop");
    assertThat(Listing.at(AT, JGNOP + JGNOP + code).takenBy(NOPS, AT, AT)).isEmpty();
    assertThat(Listing.at(AT, JGNOP.repeat(4) + code).takenBy(NOPS, AT, AT)).isEmpty();
    assertThat(Listing.at(AT, code).takenBy(NOPS, AT, AT)).isEmpty();
  }

  @Test
  void callsGoWhereObjdumpSays() {
    CallForm mcount = S390x.ISA.convention("mcount").orElseThrow().callForms().getFirst();
    CallForm fentry = S390x.ISA.convention("fentry").orElseThrow().callForms().getFirst();

    // 101f5e: c0 e5 ff ff f0 c1  brasl %r14,1000e0
    long call = Listing.at(AT, "c0 e5 ff ff f0 c1").at(AT);
    assertThat(mcount.matches(call)).isTrue();
    assertThat(fentry.matches(call)).isFalse();
    assertThat(mcount.target().of(0x10_1f5e, call)).isEqualTo(0x10_00e0);
    // 101cd0: c0 05 ff ff f2 08  brasl %r0,1000e0
    long first = Listing.at(AT, "c0 05 ff ff f2 08").at(AT);
    assertThat(fentry.matches(first)).isTrue();
    assertThat(mcount.matches(first)).isFalse();
    assertThat(fentry.target().of(0x10_1cd0, first)).isEqualTo(0x10_00e0);
  }
}
