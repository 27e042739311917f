package dev.retstack.machine.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.testing.Listing;
import dev.retstack.unicorn.PpcConst;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** PowerPC as an assembler writes it, and what tells its three ways of calling _mcount apart. */
final class PowerTest {
  private static final long AT = 0x10000;
  private static final List<AbiCard> COUNTING = Power.PPC64.conventions().subList(0, 3);

  @ParameterizedTest
  @CsvSource({
    // std r31,-8(r1); stdu r1,-128(r1); mr r31,r1
    "mcount, fb e1 ff f8 f8 21 ff 81 7c 3f 0b 78",
    // the compiler's own copy of the return address goes first, the frame comes last
    "mcount, 7c 08 02 a6 f8 01 00 10 f8 21 ff 81",
    "mcount, f8 01 00 10 f8 21 ff 91",
    // mflr r0
    "profile-kernel, 7c 08 02 a6",
    // addis r2,r12,n; addi r2,r2,n; mflr r0
    "profile-kernel, 3c 4c 00 02 38 42 80 00 7c 08 02 a6",
    // mflr r0; std r11,24(r1), the static chain
    "profile-kernel, 7c 08 02 a6 f9 61 00 18",
    // mflr r0; std r0,16(r1)
    "profile-kernel-3, 7c 08 02 a6 f8 01 00 10",
    "profile-kernel-3, 7c 08 02 a6 f9 61 00 18 f8 01 00 10",
    "profile-kernel-3, 7c 08 02 a6 f8 01 00 10 f9 61 00 18",
  })
  void oneCardTakesEachCallOfMcount(String card, String before) {
    Listing code = Listing.at(AT, before + " 4b ff d1 15");

    assertThat(code.takenBy(COUNTING, code.end() - 4, code.end())).containsExactly(card);
  }

  @Test
  void aCallAtTheStartOfTheFileIsAnOrdinaryOne() {
    assertThat(Listing.at(AT, "4b ff d1 15").takenBy(COUNTING, AT, AT + 4))
        .containsExactly("mcount");
  }

  @Test
  void littleEndianSitesAreReadInTheirOwnOrder() {
    Listing code = Listing.at(AT, "a6 02 08 7c fd ce ff 4b");

    assertThat(code.takenBy(Power.PPC64LE.conventions().subList(0, 3), AT + 4, AT + 8))
        .containsExactly("profile-kernel");
    assertThat(code.takenBy(COUNTING, AT + 4, AT + 8)).containsExactly("mcount");
  }

  @Test
  void callsGoWhereObjdumpSays() {
    CallForm big = new Power(ByteOrder.BIG_ENDIAN, 8).call();
    CallForm little = new Power(ByteOrder.LITTLE_ENDIAN, 8).call();

    // 10310c: 4b ff d1 15  bl 100220
    long back = Listing.at(AT, "4b ff d1 15").at(AT);
    assertThat(big.matches(back)).isTrue();
    assertThat(big.target().of(0x10_310c, back)).isEqualTo(0x10_0220);
    // 103324: fd ce ff 4b  bl 100220
    long littleBack = Listing.at(AT, "fd ce ff 4b").at(AT);
    assertThat(little.matches(littleBack)).isTrue();
    assertThat(little.target().of(0x10_3324, littleBack)).isEqualTo(0x10_0220);
    assertThat(big.target().of(AT, Listing.at(AT, "48 00 01 01").at(AT))).isEqualTo(AT + 0x100);
    assertThat(big.matches(Listing.at(AT, "4b ff d1 14").at(AT))).as("b").isFalse();
    assertThat(big.matches(Listing.at(AT, "4b ff d1 17").at(AT))).as("bla").isFalse();
  }

  @Test
  void theLowHalfOfTheMailboxIsSigned() {
    LandingCode narrow = new Power(ByteOrder.BIG_ENDIAN, 4).landing();

    // lis r12,0x10; lwz r12,-0x8000(r12); ...
    assertThat(Listing.hex(narrow.slot().code(AT, AT, 0xf_8000)))
        .startsWith("3d 80 00 10 81 8c 80 00");
  }

  @Test
  void theSlotLiesAboveTheStackPointerOfTheExit() {
    for (AbiCard card : Power.PPC64.conventions()) {
      assertThat(card.slotAboveStack(PpcConst.UC_PPC_REG_1)).as(card.name()).isEqualTo(16);
    }
    assertThat(Power.PPC32.conventions().getFirst().slotAboveStack(PpcConst.UC_PPC_REG_1))
        .isEqualTo(4);
    assertThat(X86.X86_64.conventions().getFirst().slotAboveStack(X86.X86_64.registers().sp()))
        .isZero();
  }

  @Test
  void oneStubServesBothWaysOfCalling() {
    // mflr r12; mtctr r12; mtlr r0; bctr
    String stub = "7d 88 02 a6 7d 89 03 a6 7c 08 03 a6 4e 80 04 20";
    for (AbiCard card : COUNTING) {
      assertThat(Listing.hex(card.entryStub(false))).isEqualTo(stub);
    }
  }
}
