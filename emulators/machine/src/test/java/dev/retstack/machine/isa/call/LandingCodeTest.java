package dev.retstack.machine.isa.call;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.testing.Listing;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The ways out without a tail, against what the GNU assembler makes of their listings. */
class LandingCodeTest {
  private static final long SLOT = 0x7ffe_0040L;
  private static final long MAILBOX = 0x7ffe_1000L;

  private static final Map<String, String> WITHOUT_TAIL =
      Map.ofEntries(
          entry("x86_64", "ff 25 ba 0f 00 00"),
          entry("i386", "ff 25 00 10 fe 7f"),
          entry("aarch64", "1e 7e 00 58 c0 03 5f d6"),
          entry("riscv64", "97 12 00 00 83 b0 02 fc 67 80 00 00"),
          entry("riscv32", "97 12 00 00 83 a0 02 fc 67 80 00 00"),
          entry("arm", "b8 ff 9f e5"),
          entry("s390x", "c4 e8 00 00 07 e0 07 fe"),
          entry("ppc64", "3d 80 7f fe e9 8c 10 00 7d 88 03 a6 4e 80 00 20"),
          entry("ppc64le", "fe 7f 80 3d 00 10 8c e9 a6 03 88 7d 20 00 80 4e"),
          entry("ppc32", "3d 80 7f fe 81 8c 10 00 7d 88 03 a6 4e 80 00 20"),
          entry("m68k", "4e f0 01 f1 7f fe 10 00"));

  static Stream<Isa> withoutTail() {
    return Isas.all().stream()
        .filter(isa -> isa.landing().tail().code(SLOT + 0x100, MAILBOX).length == 0);
  }

  @ParameterizedTest
  @MethodSource("withoutTail")
  void isWhatAnAssemblerWrites(Isa isa) {
    String code = WITHOUT_TAIL.get(isa.name());

    byte[] slot = isa.landing().slot().code(SLOT, 0, MAILBOX);

    assertThat(Listing.hex(slot)).isEqualTo(code);
    assertThat(slot).hasSizeLessThanOrEqualTo(isa.landing().stride());
  }

  @ParameterizedTest
  @CsvSource({
    "x86_64, 0x1123, e9 1e 01 00 00",
    "i386, 0x0f00, e9 fb fe ff ff",
    "aarch64, 0x1100, 40 00 00 14",
    "aarch64, 0x0f00, c0 ff ff 17",
    "riscv64, 0x1100, 6f 00 00 10",
    "riscv32, 0x0f00, 6f f0 1f f0",
    "s390x, 0x1100, c0 f4 00 00 00 80",
    "s390x, 0x0f00, c0 f4 ff ff ff 80",
    "ppc64, 0x1100, 48 00 01 00",
    "ppc64le, 0x0f00, 00 ff ff 4b",
    "m68k, 0x1100, 60 ff 00 00 00 fe",
    "x86_64, 0x80001006, ''",
    "aarch64, 0x8001000, ''",
    "aarch64, 0x1002, ''",
    "riscv64, 0x101000, ''",
    "ppc32, 0x2001000, ''",
    "arm, 0x1100, ''",
    "mips, 0x1100, ''",
    "sparc, 0x1100, ''"
  })
  void trampolineIsAJumpWhereOneReaches(String isa, String target, String code) {
    LandingCode landing = Isas.find(isa).orElseThrow().landing();

    byte[] jump = landing.trampoline().code(0x1000, Long.decode(target));

    assertThat(Listing.hex(jump)).isEqualTo(code);
  }
}
