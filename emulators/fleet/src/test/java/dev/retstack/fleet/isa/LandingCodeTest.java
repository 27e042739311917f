package dev.retstack.fleet.isa;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ways out that store registers, against what the GNU assembler makes of their listings. */
class LandingCodeTest {
  private static final long SLOT = 0x7ffe_0040L;
  private static final long MAILBOX = 0x7ffe_1000L;

  @ParameterizedTest
  @CsvSource({
    "x86_64, 48 89 2d c1 0f 00 00 48 89 25 c2 0f 00 00 ff 25 ac 0f 00 00",
    "i386, 89 2d 04 10 fe 7f 89 25 08 10 fe 7f ff 25 00 10 fe 7f",
    "aarch64, 10 7e 00 10 f1 03 00 91 1d c6 00 a9 1e 02 40 f9 c0 03 5f d6",
    "riscv64, 97 12 00 00 23 b4 82 fc 23 b8 22 fc 83 b0 02 fc 67 80 00 00",
    "riscv32, 97 12 00 00 23 a2 82 fc 23 a4 22 fc 83 a0 02 fc 67 80 00 00",
    "s390x, c4 bb 00 00 07 e4 c4 fb 00 00 07 e5 c4 e8 00 00 07 da 07 fe",
    "ppc64, 3d 80 7f fe fb ec 10 08 f8 2c 10 10 e9 8c 10 00 7d 88 03 a6 4e 80 00 20",
    "ppc64le, fe 7f 80 3d 08 10 ec fb 10 10 2c f8 00 10 8c e9 a6 03 88 7d 20 00 80 4e",
    "ppc32, 3d 80 7f fe 93 ec 10 04 90 2c 10 08 81 8c 10 00 7d 88 03 a6 4e 80 00 20"
  })
  void isWhatAnAssemblerWrites(String isa, String code) {
    LandingCode landing = Isas.find(isa).orElseThrow().landing();

    assertThat(Listing.hex(landing.slot().code(SLOT, 0, MAILBOX))).isEqualTo(code);
    assertThat(landing.tail().code(0, MAILBOX)).isEmpty();
    assertThat(landing.stored()).hasSize(2);
    assertThat(code.split(" ", -1)).hasSizeLessThanOrEqualTo(landing.stride());
  }
}
