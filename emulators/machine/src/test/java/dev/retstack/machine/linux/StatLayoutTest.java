package dev.retstack.machine.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.system.StatLayout;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Layouts agree with the kernel headers of the compilers of this host. */
final class StatLayoutTest {
  private static final List<String> FIELDS =
      List.of("st_ino", "st_mode", "st_nlink", "st_size", "st_blksize", "st_blocks");

  /** The compiler prints the operand of an asm statement as it is: one number per line. */
  private static final Pattern NUMBER = Pattern.compile("@ (\\w+) [#$]?(\\d+)");

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "RISCV32") // it has statx only
  void statIsThatOfTheHeaders(CrossCompilers compiler) throws Exception {
    String structure = compiler.isa.wordBytes() == 8 ? "stat" : "stat64";
    StringBuilder source =
        new StringBuilder("#include <stddef.h>\n#include <asm/stat.h>\nvoid f(void) {\n");
    number(source, "size", "sizeof(struct %s)".formatted(structure));
    for (String field : FIELDS) {
      number(source, field, "offsetof(struct %s, %s)".formatted(structure, field));
      number(source, field + "_bytes", "sizeof(((struct %s *)0)->%s)".formatted(structure, field));
    }
    Map<String, Integer> header = new LinkedHashMap<>();
    for (String line : compiler.assembly(folder, source.append("}\n").toString())) {
      Matcher number = NUMBER.matcher(line);
      if (number.find()) {
        header.put(number.group(1), Integer.parseInt(number.group(2)));
      }
    }

    StatLayout layout = compiler.isa.syscalls().stat();

    assertThat(header).containsEntry("size", layout.bytes());
    agree(header, "st_ino", layout.inode());
    agree(header, "st_mode", layout.mode());
    agree(header, "st_nlink", layout.links());
    agree(header, "st_size", layout.size());
    agree(header, "st_blksize", layout.blockSize());
    agree(header, "st_blocks", layout.blocks());
  }

  /** No ISA goes unseen: each has a layout that some compiler is asked for. */
  @Test
  void everyLayoutIsCompared() {
    for (Isa isa : Isas.all()) {
      assertThat(CrossCompilers.values())
          .as(isa.name())
          .anyMatch(compiler -> compiler.isa.syscalls().stat().equals(isa.syscalls().stat()));
    }
  }

  private static void number(StringBuilder source, String name, String value) {
    source.append("__asm__ volatile(\"@ %s %%0\" : : \"i\"(%s));\n".formatted(name, value));
  }

  private static void agree(Map<String, Integer> header, String name, StatLayout.Field field) {
    assertThat(header)
        .containsEntry(name, field.at())
        .containsEntry(name + "_bytes", field.bytes());
  }
}
