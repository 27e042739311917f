package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.unicorn.library.LibraryLocator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConstantsGeneratorTest {
  private static final List<String> HEADERS =
      List.of(
          "unicorn.h",
          "x86.h",
          "arm.h",
          "arm64.h",
          "riscv.h",
          "mips.h",
          "ppc.h",
          "s390x.h",
          "m68k.h",
          "sparc.h");

  @TempDir private Path directory;

  /** The headers come with the library; only a library from elsewhere comes without. */
  @Test
  void committedConstantsAreThoseInUse() throws IOException {
    Path headers =
        LibraryLocator.ofThisProcess().cacheDirectory().resolve("include").resolve("unicorn");
    assumeTrue(Files.isDirectory(headers), () -> "no headers in " + headers);
    Map<String, String> sources =
        ConstantsGenerator.generate(headers, ConstantsGenerator.used(Path.of("../..")));
    assertThat(sources).hasSize(HEADERS.size() + 1);
    for (Map.Entry<String, String> source : sources.entrySet()) {
      Path committed = Path.of("src/main/java/dev/retstack/unicorn", source.getKey());
      assertThat(committed).content().isEqualTo(source.getValue());
    }
  }

  @Test
  void valuesFollowTheRulesOfC() throws IOException {
    assertThat(
            generate(
                """
                /* UC_NOT = 1, */
                typedef enum uc_err { UC_ERR_OK = 0, // UC_NOT
                  UC_ERR_NEXT, } uc_err;
                typedef enum uc_x {
                  UC_A = 1 << 2, UC_B, UC_C = UC_A + 3, UC_D, UC_E = 0x10 | 1 + 2 << 3
                } uc_x;
                #define UC_SUM \\
                    (UC_A + \\
                     UC_C)
                #define UC_CALL(x) (x)
                #define UC_CAST (int)UC_A
                """))
        .contains(" UC_A = 4;", " UC_B = 5;", " UC_C = 7;", " UC_D = 8;", " UC_E = 24;")
        .contains(" UC_SUM = 11;")
        .doesNotContain("UC_NOT", "UC_CALL", "UC_CAST");
  }

  @Test
  void whatIsNotUnderstoodIsAnErrorAndNoGuess() {
    assertThatThrownBy(() -> generate("typedef enum uc_x { UC_A = UC_MISSING } uc_x;"))
        .hasMessageContaining("unknown name UC_MISSING");
    assertThatThrownBy(() -> generate("typedef enum uc_x { UC_A = 1 - 2 } uc_x;"))
        .hasMessageContaining("no integer expression");
    assertThatThrownBy(() -> generate("typedef enum uc_x { UC_A = (1 } uc_x;"))
        .hasMessageContaining("missing bracket");
  }

  @Test
  void everyErrorHasTheLibrarysWords() {
    assertThat(UcError.values()).hasSize(UcConst.UC_ERR_OVERFLOW + 2);
    String unknown = NativeUnicorn.errorText(UcConst.UC_ERR_OVERFLOW + 1);
    for (int code = 0; code <= UcConst.UC_ERR_OVERFLOW; code++) {
      assertThat(UcError.of(code).code()).isEqualTo(code);
      if (code != UcConst.UC_ERR_HOOK_EXIST) { // 2.1.4 forgot that one
        assertThat(NativeUnicorn.errorText(code)).isNotEqualTo(unknown);
      }
    }
    assertThat(UcError.of(UcConst.UC_ERR_OVERFLOW + 1)).isEqualTo(UcError.UNKNOWN);
  }

  private String generate(String header) throws IOException {
    for (String name : HEADERS) {
      Files.writeString(directory.resolve(name), name.equals("unicorn.h") ? header : "");
    }
    return ConstantsGenerator.generate(
            directory, Set.of("UC_A", "UC_B", "UC_C", "UC_D", "UC_E", "UC_SUM"))
        .get("UcConst.java");
  }
}
