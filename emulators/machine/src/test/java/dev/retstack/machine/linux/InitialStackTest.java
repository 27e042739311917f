package dev.retstack.machine.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.elf.ElfBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class InitialStackTest {
  private static final int AT_PHDR = 3;
  private static final int AT_PHENT = 4;
  private static final int AT_PHNUM = 5;
  private static final int AT_PAGESZ = 6;
  private static final int AT_ENTRY = 9;
  private static final int AT_UID = 11;
  private static final int AT_PLATFORM = 15;
  private static final int AT_CLKTCK = 17;
  private static final int AT_SECURE = 23;
  private static final int AT_RANDOM = 25;
  private static final int AT_EXECFN = 31;

  static Stream<String> isas() {
    return Isas.all().stream().map(Isa::name);
  }

  @ParameterizedTest
  @MethodSource("isas")
  void programFindsArgumentsEnvironmentAndAuxiliaryVector(String isa) {
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put("LANG", "C");
    environment.put("EMPTY", "");
    List<String> arguments = List.of("prog", "zwölf", "");
    try (Guest guest =
        new Guest(isa, "", o -> o.withArguments(arguments).withEnvironment(environment))) {
      long sp = guest.process.start();

      assertThat(sp % 16).isZero();
      long word = guest.word();
      long at = sp + guest.isa.syscalls().stackGap();
      assertThat(guest.memory.readWord(at)).isEqualTo(3);
      at += word;
      assertThat(strings(guest, at)).isEqualTo(arguments);
      at += word * 4;
      assertThat(strings(guest, at)).containsExactly("LANG=C", "EMPTY=");
      at += word * 3;
      Map<Integer, Long> auxiliary = new LinkedHashMap<>();
      for (; guest.memory.readWord(at) != 0; at += 2 * word) {
        auxiliary.put((int) guest.memory.readWord(at), guest.memory.readWord(at + word));
      }
      assertThat(auxiliary)
          .containsEntry(AT_PHENT, 56L)
          .containsEntry(AT_PHNUM, 1L)
          .containsEntry(AT_PAGESZ, 4096L)
          .containsEntry(AT_ENTRY, 0x10400L)
          .containsEntry(AT_UID, 1000L)
          .containsEntry(AT_CLKTCK, 100L)
          .containsEntry(AT_SECURE, 0L)
          .doesNotContainKey(AT_PHDR); // the built file maps its code only, not its headers
      assertThat(guest.memory.readString(auxiliary.get(AT_EXECFN), 99)).isEqualTo("prog");
      assertThat(guest.memory.readString(auxiliary.get(AT_PLATFORM), 99))
          .isEqualTo(guest.isa.syscalls().platform());
      assertThat(auxiliary.get(AT_RANDOM) % 16).isZero();
      assertThat(guest.memory.read(auxiliary.get(AT_RANDOM), 16)).isNotEqualTo(new byte[16]);
    }
  }

  @Test
  void sameSeedSameStack() {
    assertThat(stackOf(7)).isEqualTo(stackOf(7)).isNotEqualTo(stackOf(8));
  }

  @Test
  void tooManyArgumentsAreRefused() {
    String huge = "x".repeat(300_000);
    try (Guest guest =
        new Guest(
            "x86_64",
            "",
            o ->
                o.withArguments(List.of("prog", huge))
                    .withStackBytes(1 << 20)
                    .withMemoryBytesMax(1 << 20))) {
      assertThatThrownBy(guest.process::start)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a quarter of the stack");
    }
  }

  @Test
  void headersInASegmentAreFound() throws Exception {
    byte[] file = ElfBuilder.elf64().load(0, 0x40000, 0x400, 0x400, 4).build();
    assertThat(dev.retstack.machine.loader.elf.ElfFile.parse(file, "a").programHeadersAddress())
        .contains(0x40040L);
  }

  private static List<Byte> stackOf(long seed) {
    try (Guest guest = new Guest("x86_64", "", o -> o.withSeed(seed))) {
      long sp = guest.process.start();
      List<Byte> bytes = new ArrayList<>();
      for (long at = sp; guest.memory.isMapped(at, 1); at++) {
        bytes.add(guest.memory.readByte(at));
      }
      return bytes;
    }
  }

  private static List<String> strings(Guest guest, long at) {
    List<String> strings = new ArrayList<>();
    for (long p = at; guest.memory.readWord(p) != 0; p += guest.word()) {
      strings.add(guest.memory.readString(guest.memory.readWord(p), 1000));
    }
    return strings;
  }
}
