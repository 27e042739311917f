package dev.retstack.machine.loader.dwarf;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.retstack.machine.loader.elf.ElfBuilder;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Section;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.machine.testing.LinedProgram;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Line tables and declarations that lie: mutants of what compilers write, and by hand. Each is
 * read, or gives a sentence and no line. Anything thrown, a hang or an allocation out of proportion
 * is a defect. {@code -Dretstack.fuzz.lines=N} tries so many, {@code -Dretstack.seed=S} repeats a
 * run.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class LineFuzzTest {
  private static final int MUTANTS = Integer.getInteger("retstack.fuzz.lines", 8_000);
  private static final long ALLOCATION_MAX = 8L << 20;
  private static final long NANOS_MAX = TimeUnit.SECONDS.toNanos(20);
  private static final long COMPRESSED = 0x800;
  private static final int[] TEMPTING = {0, 1, 2, 3, 5, 7, 0x7f, 0x80, 0xfe, 0xff};

  /** Version 4, no folder, file a.c, at the first function: line 7. */
  private static final int[] UNIT = {
    52, 0, 0, 0, 4, 0, 27, 0, 0, 0, 1, 1, 1, 0xfb, 14, 13, //
    0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, // lengths of the standard opcodes
    0, 'a', '.', 'c', 0, 0, 0, 0, 0, //
    0, 9, 2, 0x00, 0x04, 0x01, 0, 0, 0, 0, 0, // the address of the code
    3, 6, 1, 2, 16, 0, 1, 1, // line 7, a row, 16 bytes, the end
  };

  private static final List<String> MUTATED =
      List.of(
          ".debug_line",
          ".debug_line",
          ".debug_line",
          ".debug_line_str",
          ".debug_info",
          ".debug_info",
          ".debug_info",
          ".debug_abbrev",
          ".debug_abbrev",
          ".zdebug_line",
          ".zdebug_info",
          ".debug_addr",
          ".debug_rnglists",
          ".debug_ranges",
          ".debug_str_offsets");

  /** A unit, and functions with code that refer to another. */
  private static final int[] ABBREVIATIONS = {
    1, 0x11, 1, 0x10, 0x17, 0, 0, // a unit: where its lines are
    2, 0x2e, 0, 0x11, 0x01, 0x12, 0x0b, 0x31, 0x13, 0, 0, // low_pc, high_pc, abstract_origin
    3, 0x2e, 0, 0x3a, 0x0b, 0x3b, 0x0b, 0x47, 0x13, 0, 0, // decl_file, decl_line, specification
    0,
  };

  /** Version 4: f in line 3 of a.c, by an entry that refers to itself. */
  private static final int[] INFO = {
    41, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, //
    1, 0, 0, 0, 0, // at 11: the unit
    2, 0x00, 0x04, 0x01, 0, 0, 0, 0, 0, 16, 30, 0, 0, 0, // at 16: f, with an origin at 30
    3, 1, 3, 30, 0, 0, 0, // at 30: its declaration
    0, 0, 0, 0, 0, 0, 0, 0,
  };

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final long seed = Seeds.fresh();
  @TempDir private Path folder;

  private static byte[] unit() {
    return bytes(UNIT);
  }

  private static byte[] program(byte[] table, long flags) {
    return ElfBuilder.elf64()
        .symbol("f", ElfBuilder.CODE_ADDRESS, 16, 0x12)
        .symbol("g", ElfBuilder.CODE_ADDRESS + 16, 16, 0x12)
        .debug(".debug_line", table, flags)
        .build();
  }

  private static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  /** Pairs of a place and what stands there instead. */
  private static byte[] described(int[] changes) {
    byte[] info = bytes(INFO);
    for (int i = 0; i < changes.length; i += 2) {
      info[changes[i]] = (byte) changes[i + 1];
    }
    return described(info, bytes(ABBREVIATIONS));
  }

  private static byte[] described(byte[] info, byte[] abbreviations) {
    return ElfBuilder.elf64()
        .symbol("f", ElfBuilder.CODE_ADDRESS, 16, 0x12)
        .symbol("g", ElfBuilder.CODE_ADDRESS + 16, 16, 0x12)
        .debug(".debug_line", unit(), 0)
        .debug(".debug_info", info, 0)
        .debug(".debug_abbrev", abbreviations, 0)
        .build();
  }

  private static SourceLines declarations(int... changes) throws IOException {
    return SourceLines.of(ElfFile.parse(described(changes), "f.elf"));
  }

  @Test
  void declarationsThatLieLeaveTheRows() throws Exception {
    assertThat(declarations().trouble()).isEmpty();
    assertThat(declarations().line(0)).isEqualTo(3);
    assertThat(declarations(26, 200).line(0)).as("an origin outside").isEqualTo(7);
    assertThat(declarations(31, 9).line(0)).as("a file that is not there").isEqualTo(7);
    assertThat(declarations(12, 9).line(0)).as("lines of no unit").isEqualTo(7);
    assertThat(declarations(25, 0).line(0)).as("no code").isEqualTo(7);
    assertThat(declarations(18, 8).line(0)).as("code elsewhere").isEqualTo(7);
    assertThat(damaged(0, 42)).contains("unit_length of .debug_info", "42 bytes", "41 there");
    assertThat(damaged(4, 6)).contains("version", "is 6", "2 to 5");
    assertThat(damaged(10, 9)).contains("address_size", "is 9");
    assertThat(damaged(6, 200)).contains("an offset of .debug_abbrev", "200 bytes");
    assertThat(damaged(16, 4)).contains("the abbreviation of an entry", "is 4");
    assertThat(damaged(26, 29)).contains("the abbreviation of an entry");
    byte[] form = bytes(ABBREVIATIONS);
    form[15] = 0x02;
    assertThat(damaged(bytes(INFO), form)).contains("the form of an attribute", "0x2");
  }

  private static String damaged(int... changes) throws IOException {
    return damaged(declarations(changes));
  }

  private static String damaged(byte[] info, byte[] abbreviations) throws IOException {
    return damaged(SourceLines.of(ElfFile.parse(described(info, abbreviations), "f.elf")));
  }

  private static String damaged(SourceLines lines) {
    assertThat(lines.line(0)).as("the row").isEqualTo(7);
    return lines.trouble().orElse("none");
  }

  /** What costs a byte to write and much to read is bounded. */
  @Test
  void declarationsThatRepeatThemselvesEnd() throws Exception {
    ByteArrayOutputStream wide = new ByteArrayOutputStream();
    wide.writeBytes(bytes(1, 0x11, 1, 0x10, 0x17, 0, 0, 2, 0x2e, 0, 0x11, 0x19));
    for (int i = 0; i < 200; i++) {
      wide.writeBytes(bytes(0x3f, 0x19)); // true, in no bytes
    }
    wide.writeBytes(bytes(0, 0, 0));
    byte[] info = new byte[4 << 20];
    System.arraycopy(bytes(INFO), 0, info, 0, 16);
    Arrays.fill(info, 16, info.length, (byte) 2);
    System.arraycopy(word(info.length - 4), 0, info, 0, 4);
    assertThat(damaged(info, wide.toByteArray()))
        .contains("the attributes of functions", "8 a byte");

    ByteArrayOutputStream wider = new ByteArrayOutputStream();
    wider.writeBytes(bytes(1, 0x11, 1));
    for (int i = 0; i < 300; i++) {
      wider.writeBytes(bytes(0x3f, 0x19));
    }
    assertThat(damaged(bytes(INFO), wider.toByteArray())).contains("at most 256");

    ByteArrayOutputStream units = new ByteArrayOutputStream();
    for (int i = 0; i <= InfoUnit.UNITS_MAX; i++) {
      units.writeBytes(bytes(7, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8));
    }
    assertThat(damaged(units.toByteArray(), bytes(ABBREVIATIONS))).contains("the count of units");

    byte[] zeros = new byte[4 << 20]; // a table that each unit reads from another place
    for (int i = 0; i < zeros.length - 8; i += 5) {
      System.arraycopy(bytes(1, 0x24, 0, 0, 0), 0, zeros, i, 5);
    }
    ByteArrayOutputStream many = new ByteArrayOutputStream();
    for (int i = 0; i < 1000; i++) {
      many.writeBytes(bytes(8, 0, 0, 0, 4, 0));
      many.write(word(5L * i), 0, 4);
      many.writeBytes(bytes(8, 0));
    }
    assertThat(damaged(many.toByteArray(), zeros)).contains("tables of abbreviations", "overlap");
  }

  private static SourceLines lines(byte[] table) throws IOException {
    return SourceLines.of(ElfFile.parse(program(table, 0), "f.elf"));
  }

  @Test
  void aTableByHandIsRead() throws Exception {
    SourceLines lines = lines(unit());
    assertThat(lines.trouble()).isEmpty();
    assertThat(lines.files()).containsExactly("a.c");
    assertThat(new int[] {lines.line(0), lines.line(1)}).containsExactly(7, 0);
  }

  @Test
  void mutantsAreReadOrRefused() throws Exception {
    System.out.println("LineFuzzTest: seed " + seed);
    List<byte[]> programs = programs();
    int refused = 0;
    int read = 0;
    for (int i = 0; i < MUTANTS; i++) {
      SplittableRandom random = new SplittableRandom(seed + i * 0x9E37_79B9_7F4A_7C15L);
      byte[] mutant = mutant(programs.get(random.nextInt(programs.size())), random);
      ElfFile elf = ElfFile.parse(mutant, "mutant.elf");
      if (use(elf, mutant.length, "seed %d, mutant %d".formatted(seed, i))) {
        read++;
      } else {
        refused++;
      }
    }
    assertThat(read).as("read, seed %d", seed).isGreaterThan(MUTANTS / 20);
    assertThat(refused).as("refused, seed %d", seed).isGreaterThan(MUTANTS / 20);
  }

  private boolean use(ElfFile elf, int bytes, String which) {
    long before = threads.getCurrentThreadAllocatedBytes();
    long start = System.nanoTime();
    SourceLines lines;
    try {
      lines = SourceLines.of(elf);
    } catch (RuntimeException | Error e) {
      throw new AssertionError(which, e);
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
        .as("bytes allocated, %s", which)
        .isLessThan(ALLOCATION_MAX + 8L * bytes);
    assertThat(System.nanoTime() - start).as("nanoseconds, %s", which).isLessThan(NANOS_MAX);
    for (int i = 0; i < elf.functions().size(); i++) {
      assertThat(lines.line(i)).as(which).isNotNegative();
      if (lines.line(i) > 0) {
        String file = lines.files().get(lines.file(i));
        assertThat(file.length()).as(which).isLessThanOrEqualTo(Chunks.FILE_MAX);
      }
    }
    lines
        .trouble()
        .ifPresent(
            why -> {
              assertThat(why).as(which).startsWith("mutant.elf: ").contains(", allowed: ", "; ");
              assertThat(lines.known() == 0 || why.contains("of their first instructions"))
                  .as("%s: %d lines, %s", which, lines.known(), why)
                  .isTrue();
            });
    return lines.trouble().isEmpty();
  }

  /** By hand, and of the compilers that are there. */
  private List<byte[]> programs() throws IOException, InterruptedException {
    List<byte[]> programs = new ArrayList<>();
    programs.add(program(unit(), 0));
    programs.add(described(new int[0]));
    String[][] compilers = {
      {"x86_64-linux-gnu-gcc", "-gdwarf-4"},
      {"x86_64-linux-gnu-gcc", "-gdwarf-5"},
      {"x86_64-linux-gnu-gcc", "-gdwarf-5", "-gz"},
      {"x86_64-linux-gnu-gcc", "-gdwarf-5", "-gz=zlib-gnu"},
      {"x86_64-linux-gnu-gcc", "-gdwarf-5", "-gdwarf64"},
      {"clang", "-gdwarf-5"},
      {"clang", "-gdwarf-5", "-O2", "-ffunction-sections"},
      {"x86_64-linux-gnu-gcc", "-gdwarf-4", "-O2", "-freorder-blocks-and-partition"},
      {"s390x-linux-gnu-gcc", "-gdwarf-5"},
    };
    for (String[] compiler : compilers) {
      if (GuestCompiler.installed(compiler[0])) {
        String[] flags = List.of(compiler).subList(1, compiler.length).toArray(String[]::new);
        programs.add(Files.readAllBytes(LinedProgram.build(folder, compiler[0], flags)));
      }
    }
    return programs;
  }

  /** One to four changes in a section of lines or of their names. */
  private static byte[] mutant(byte[] program, SplittableRandom random) throws IOException {
    byte[] mutant = program.clone();
    ElfFile elf = ElfFile.parse(program, "f.elf");
    List<Section> sections = new ArrayList<>();
    for (String name : MUTATED) {
      elf.section(name).filter(s -> s.size() > 0).ifPresent(sections::add);
    }
    for (int left = 1 + random.nextInt(4); left > 0; left--) {
      Section section = sections.get(random.nextInt(sections.size()));
      // heads tell more lies than programs
      int reach = (int) (random.nextBoolean() ? section.size() : Math.min(64, section.size()));
      int at = (int) section.offset() + random.nextInt(reach);
      int end = (int) (section.offset() + section.size());
      switch (random.nextInt(4)) {
        case 0 -> mutant[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        case 1 -> mutant[at] = (byte) random.nextInt();
        case 2 -> mutant[at] = (byte) TEMPTING[random.nextInt(TEMPTING.length)];
        default -> {
          int from = (int) section.offset() + random.nextInt((int) section.size());
          int length = Math.min(1 + random.nextInt(12), end - Math.max(at, from));
          System.arraycopy(program, from, mutant, at, length);
        }
      }
    }
    return mutant;
  }

  @Test
  void everyLieHasItsSentence() throws Exception {
    assertThat(lie(0, 53)).contains("unit_length of .debug_line", "53 bytes", "52 there");
    assertThat(lie(4, 6)).contains("version", "is 6", "2 to 5");
    assertThat(lie(6, 200)).contains("header_length", "is 200");
    assertThat(lie(6, 3)).contains("header_length", "is 3", "the end of the names");
    assertThat(lie(14, 0)).contains("line_range");
    assertThat(lie(11, 0)).contains("operations of an instruction");
    assertThat(lie(38, 120)).contains("the length of an extended opcode", "120");
    assertThat(lie(38, 2)).contains("the length of an extended opcode");
    byte[] cut = unit();
    assertThat(trouble(Arrays.copyOf(cut, 20))).contains("unit_length");
    assertThat(trouble(new byte[] {1, 0})).contains("a number", "2 there");
  }

  private String lie(int at, int value) throws IOException {
    byte[] table = unit();
    table[at] = (byte) value;
    return trouble(table);
  }

  private static String trouble(byte[] table) throws IOException {
    SourceLines lines = lines(table);
    assertThat(lines.known()).isZero();
    return lines.trouble().orElse("none");
  }

  @Test
  void whatIsPackedGrowsWithWhatIsThere() throws Exception {
    byte[] zeros = new byte[DebugSection.BYTES_MAX];
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (DeflaterOutputStream out = new DeflaterOutputStream(packed)) {
      out.write(unit());
    }
    byte[] body = packed.toByteArray();
    assertThat(unpacked(1, unit().length, body).trouble()).isEmpty();
    assertThat(unpacked(1, unit().length, body).line(0)).isEqualTo(7);
    assertThat(unpacked(2, unit().length, body).trouble().orElse("none"))
        .contains("form 2", "zlib");
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(unpacked(1, zeros.length, body).trouble().orElse("none"))
        .contains("damaged: 56 bytes of 67108864");
    assertThat(unpacked(1, zeros.length + 1, body).trouble().orElse("none"))
        .contains("67108865 bytes", "at most 67108864");
    assertThat(unpacked(1, -1, body).trouble().orElse("none")).contains("18446744073709551615");
    assertThat(unpacked(1, 56, new byte[] {1, 2, 3}).trouble().orElse("none"))
        .contains("damaged: 0 bytes of 56");
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(ALLOCATION_MAX);
  }

  private static SourceLines unpacked(int form, long size, byte[] body) throws IOException {
    ByteArrayOutputStream section = new ByteArrayOutputStream();
    section.writeBytes(word(form));
    section.writeBytes(word(size));
    section.writeBytes(word(1));
    section.writeBytes(body);
    return SourceLines.of(ElfFile.parse(program(section.toByteArray(), COMPRESSED), "f.elf"));
  }

  private static byte[] word(long value) {
    byte[] bytes = new byte[Long.BYTES];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (value >>> (Byte.SIZE * i));
    }
    return bytes;
  }

  /** Units in any number that lie over the same functions, and folders in any number. */
  @Test
  void tablesThatRepeatThemselvesEnd() throws Exception {
    ByteArrayOutputStream many = new ByteArrayOutputStream();
    for (int i = 0; i < 500_000; i++) {
      many.writeBytes(unit());
    }
    SourceLines lines = lines(many.toByteArray());
    assertThat(lines.trouble().orElse("none")).contains("the places of functions", "overlap");

    byte[] defines = new byte[4 << 20];
    byte[] define = {0, 6, 3, 'b', 0, 0, 0, 0};
    System.arraycopy(unit(), 0, defines, 0, 37);
    for (int at = 37; at + define.length <= defines.length; at += define.length) {
      System.arraycopy(define, 0, defines, at, define.length);
    }
    System.arraycopy(word(defines.length - 4), 0, defines, 0, 4);
    assertThat(trouble(defines)).contains("the count of names of a unit", "at most 65536");
  }

  /** Version 5, whose tables of names say by a form what stands where. */
  @Test
  void aNameHasTheFormOfAName() throws Exception {
    int[] folder = {1, 1, 0x08, 1, '/', 'd', 0};
    int[] file = {2, 1, 0x08, 2, 0x0b, 1, 'a', 0, 0};
    assertThat(lines(namesOf(folder, file)).files()).containsExactly("/d/a");

    int[] number = {1, 1, 0x07, 1, 0, 0, 0, 0, 9, 0, 0, 0};
    assertThat(trouble(namesOf(number, file)))
        .contains("the form of a path", "is 0x7", "string, line_strp or strp");
    int[] negative = {2, 1, 0x06, 2, 0x0b, 1, 0, 0, 0, 0xb4, 0};
    assertThat(trouble(namesOf(folder, negative))).contains("the form of a path", "is 0x6");
    int[] inNamed = {2, 1, 0x08, 2, 0x08, 1, 'a', 0, 'd', 0};
    assertThat(trouble(namesOf(folder, inNamed))).contains("the form of a folder", "is 0x8");
    int[] nameless = {1, 2, 0x0b, 1, 0};
    assertThat(trouble(namesOf(folder, nameless))).contains("the path of a name", "is none");
  }

  private static byte[] namesOf(int[] folders, int[] files) {
    ByteArrayOutputStream names = new ByteArrayOutputStream();
    byte[] unit = unit();
    names.write(unit, 10, 18); // what version 4 has too
    for (int[] some : List.of(folders, files)) {
      Arrays.stream(some).forEach(names::write);
    }
    ByteArrayOutputStream table = new ByteArrayOutputStream();
    byte[] ofFileZero = {4, 0};
    int program = 37;
    int rest = ofFileZero.length + unit.length - program;
    table.writeBytes(Arrays.copyOf(word(8 + names.size() + rest), 4));
    table.writeBytes(new byte[] {5, 0, 8, 0});
    table.writeBytes(Arrays.copyOf(word(names.size()), 4));
    table.writeBytes(names.toByteArray());
    table.writeBytes(ofFileZero);
    table.write(unit, program, unit.length - program);
    return table.toByteArray();
  }

  @Test
  void aNameTooLongIsRefused() throws Exception {
    byte[] unit = unit();
    ByteArrayOutputStream table = new ByteArrayOutputStream();
    int more = 1 << 20;
    table.writeBytes(Arrays.copyOf(word(unit.length - 4 + more), 4));
    table.write(unit, 4, 2);
    table.writeBytes(Arrays.copyOf(word(27 + more), 4));
    table.write(unit, 10, 20);
    table.writeBytes("a".repeat(more).getBytes(StandardCharsets.UTF_8));
    table.write(unit, 30, unit.length - 30);
    assertThat(trouble(table.toByteArray())).contains("the name of a file", "4096");
  }
}
