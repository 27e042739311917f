package dev.retstack.machine.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.system.Dialect.OpenFlags;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The flags of {@code open} are those of the kernel headers of the compilers of this host. */
final class OpenFlagsTest {
  /** The compiler prints the operand of an asm statement as it is: one number per line. */
  private static final Pattern NUMBER = Pattern.compile("@ (\\w+) [#$]?(\\d+)");

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource
  void flagsAreThoseOfTheHeaders(CrossCompilers compiler) throws Exception {
    OpenFlags flags = compiler.isa.syscalls().dialect().open();
    Map<String, Integer> ours = new LinkedHashMap<>();
    ours.put("O_CREAT", flags.create());
    ours.put("O_EXCL", flags.exclusive());
    ours.put("O_TRUNC", flags.truncate());
    ours.put("O_APPEND", flags.append());
    ours.put("O_NONBLOCK", flags.nonBlocking());
    ours.put("O_DIRECTORY", flags.folder());
    ours.put("O_NOFOLLOW", flags.noFollow());
    ours.put("O_CLOEXEC", flags.closeOnExec());
    ours.put("__O_TMPFILE", flags.unnamed());
    StringBuilder source = new StringBuilder("#include <asm/fcntl.h>\nvoid f(void) {\n");
    for (String name : ours.keySet()) {
      source.append("__asm__ volatile(\"@ %s %%0\" : : \"i\"(%s));\n".formatted(name, name));
    }
    Map<String, Integer> header = new LinkedHashMap<>();
    for (String line : compiler.assembly(folder, source.append("}\n").toString())) {
      Matcher number = NUMBER.matcher(line);
      if (number.find()) {
        header.put(number.group(1), Integer.parseInt(number.group(2)));
      }
    }

    assertThat(header).isEqualTo(ours);
  }

  /** No ISA goes unseen: each has flags that some compiler is asked for. */
  @Test
  void everyDialectIsCompared() {
    for (Isa isa : Isas.all()) {
      assertThat(CrossCompilers.values())
          .as(isa.name())
          .anyMatch(
              compiler ->
                  compiler.isa.syscalls().dialect().open().equals(isa.syscalls().dialect().open()));
    }
  }
}
