package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.isa.SyscallAbi.Numbers;
import dev.retstack.schema.linux.SystemCallNames;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class SystemCallNamesTest {
  /** A name and its number, which mips writes as a sum. */
  private static final Pattern CALL =
      Pattern.compile("@ (\\w+) \\(?(?:(\\d+) *\\+ *)?\\(?(\\d+)\\)*");

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "X86_64,1,write",
    "X86_64,231,exit_group",
    "GENERIC,64,write",
    "GENERIC,94,exit_group",
    "GENERIC_32,222,mmap2",
    "I386,4,write",
    "I386,252,exit_group",
    "I386,90,old_mmap",
    "ARM,4,write",
    "ARM,983045,set_tls",
    "POWERPC,4,write",
    "POWERPC,234,exit_group",
    "S390X,4,write",
    "S390X,248,exit_group",
    "MIPS_O32,4004,write",
    "MIPS_O32,4246,exit_group",
    "MIPS_N64,5001,write",
    "MIPS_N64,5205,exit_group",
    "M68K,4,write",
    "M68K,333,get_thread_area",
    "SPARC,4,write",
    "SPARC,1,exit"
  })
  void knownNumbers(Numbers numbers, int number, String name) {
    assertThat(SystemCallNames.of(numbers.table()).name(number)).contains(name);
    assertThat(SystemCallNames.of(numbers.table()).number(name)).contains(number);
  }

  @ParameterizedTest
  @EnumSource
  void everyTableHasNames(Numbers numbers) {
    assertThat(SystemCallNames.tables()).contains(numbers.table());
  }

  @Test
  void otherNumbersHaveNoName() {
    assertThat(SystemCallNames.of("").name(1)).isEmpty();
    assertThat(SystemCallNames.of(Numbers.GENERIC.table()).name(-1)).isEmpty();
    assertThat(SystemCallNames.of(Numbers.GENERIC.table()).name((1L << 32) + 64)).isEmpty();
  }

  /** The tables agree with the kernel headers of the compilers of this host. */
  @ParameterizedTest
  @EnumSource
  void tablesAgreeWithTheHeaders(CrossCompilers compiler) throws Exception {
    SystemCallNames names = SystemCallNames.of(compiler.numbers.table());
    StringBuilder source = new StringBuilder("#include <asm/unistd.h>\n");
    Map<String, Integer> table = new HashMap<>();
    for (int number = 0; number < 6000; number++) {
      int n = number;
      names
          .name(number)
          .ifPresent(
              name -> {
                table.put(name, n);
                source.append("#ifdef __NR_%s\n@ %s __NR_%s\n#endif\n".formatted(name, name, name));
              });
    }

    int compared = 0;
    for (String line : compiler.preprocess(folder, source.toString())) {
      Matcher call = CALL.matcher(line);
      if (call.matches()) {
        int base = call.group(2) == null ? 0 : Integer.parseInt(call.group(2));
        assertThat(table).containsEntry(call.group(1), base + Integer.parseInt(call.group(3)));
        compared++;
      }
    }
    assertThat(compared).isGreaterThan(280);
  }
}
