package dev.retstack.machine.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
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
    "x86_64,1,write",
    "x86_64,231,exit_group",
    "generic,64,write",
    "generic,94,exit_group",
    "generic_32,222,mmap2",
    "i386,4,write",
    "i386,252,exit_group",
    "i386,90,old_mmap",
    "arm,4,write",
    "arm,983045,set_tls",
    "powerpc,4,write",
    "powerpc,234,exit_group",
    "s390x,4,write",
    "s390x,248,exit_group",
    "mips_o32,4004,write",
    "mips_o32,4246,exit_group",
    "mips_n64,5001,write",
    "mips_n64,5205,exit_group",
    "m68k,4,write",
    "m68k,333,get_thread_area",
    "sparc,4,write",
    "sparc,1,exit"
  })
  void knownNumbers(String table, int number, String name) {
    assertThat(SystemCallNames.of(table).name(number)).contains(name);
    assertThat(SystemCallNames.of(table).number(name)).contains(number);
  }

  /** No ISA goes unseen: its table is one that some compiler is asked for. */
  @Test
  void everyTableIsCompared() {
    for (Isa isa : Isas.all()) {
      assertThat(CrossCompilers.values())
          .as(isa.name())
          .anyMatch(compiler -> compiler.isa.syscalls().numbers().equals(isa.syscalls().numbers()));
    }
  }

  @Test
  void otherNumbersHaveNoName() {
    assertThat(SystemCallNames.of("").name(1)).isEmpty();
    assertThat(SystemCallNames.of("generic").name(-1)).isEmpty();
    assertThat(SystemCallNames.of("generic").name((1L << 32) + 64)).isEmpty();
  }

  /** The tables agree with the kernel headers of the compilers of this host. */
  @ParameterizedTest
  @EnumSource
  void tablesAgreeWithTheHeaders(CrossCompilers compiler) throws Exception {
    SystemCallNames names = compiler.isa.syscalls().names();
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
