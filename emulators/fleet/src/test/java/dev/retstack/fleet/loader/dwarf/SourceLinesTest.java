package dev.retstack.fleet.loader.dwarf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.dwarf.SourceLines;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.machine.testing.LinedProgram;
import dev.retstack.schema.Image;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Lines and files of functions are those that their source has, and those of their rows those that
 * readelf and addr2line show of the same file.
 */
final class SourceLinesTest {
  private static final Pattern ROW =
      Pattern.compile("^(\\S.*?)\\s+(\\d+|-)\\s+(0x[0-9a-f]+|0)(\\[\\d+])?(\\s.*)?$");

  /** That of binutils 2.40 names the wrong file where DWARF 5 names a header. */
  private static final String ADDR2LINE = "llvm-addr2line";

  @TempDir private Path folder;

  /** A row of a table, as readelf prints it; line 0 ends a sequence. */
  private record Row(String file, int line, long address) {}

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x86_64-linux-gnu-gcc -gdwarf-2 -gstrict-dwarf",
        "x86_64-linux-gnu-gcc -gdwarf-3",
        "x86_64-linux-gnu-gcc -gdwarf-4 -gz",
        "x86_64-linux-gnu-gcc -gdwarf-5",
        "x86_64-linux-gnu-gcc -gdwarf-5 -gz",
        "x86_64-linux-gnu-gcc -gdwarf-5 -gdwarf64",
        "x86_64-linux-gnu-gcc -gdwarf-5 -fPIE -static-pie",
        "clang -gdwarf-4",
        "clang -gdwarf-5",
        "clang -gdwarf-5 -gz -ffunction-sections",
        "aarch64-linux-gnu-gcc -gdwarf-4",
        "aarch64-linux-gnu-gcc -gdwarf-5 -gz",
        "arm-linux-gnueabihf-gcc -gdwarf-5 -mthumb",
        "powerpc64le-linux-gnu-gcc -gdwarf-5",
        "riscv64-linux-gnu-gcc -gdwarf-4",
        "riscv64-linux-gnu-gcc -gdwarf-5",
        "s390x-linux-gnu-gcc -gdwarf-4 -gz",
        "s390x-linux-gnu-gcc -gdwarf-5",
        "s390x-linux-gnu-gcc -gdwarf-5 -gdwarf64",
      })
  void linesAreThoseOfOtherReaders(String command) throws Exception {
    List<String> words = List.of(command.split(" "));
    String compiler = words.getFirst();
    Assumptions.assumeTrue(
        Stream.of(compiler, "readelf", ADDR2LINE).allMatch(GuestCompiler::installed),
        "skipped: no %s, readelf or %s".formatted(compiler, ADDR2LINE));
    boolean optimised = EachIsa.ALL || compiler.startsWith("x86_64") || compiler.equals("clang");
    for (String level : optimised ? List.of("-O0", "-O2") : List.of("-O0")) {
      List<String> flags = new ArrayList<>(words.subList(1, words.size()));
      flags.add(level);
      Path program = LinedProgram.build(folder, compiler, flags.toArray(String[]::new));
      assertDeclared(SourceLines.of(ElfFile.parse(program)), program, command + " " + level);
      compare(program, level.equals("-O0"), command + " " + level);
    }
  }

  private static final String NUMBERED =
      """
      int first(int x) { return x + 1; }

      int second(int x) {
        return first(x) * 2;
      }
      int third(int x) { return second(x) + first(x); }
      int main(void) {
        return third(1);
      }
      """;

  /** addr2line has the function before for them. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "x86_64-linux-gnu-gcc",
        "aarch64-linux-gnu-gcc",
        "riscv64-linux-gnu-gcc",
        "s390x-linux-gnu-gcc",
        "powerpc64le-linux-gnu-gcc",
        "clang"
      })
  void functionsThatBeginWithNopsHaveTheirOwnLines(String compiler) throws Exception {
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path source = Files.writeString(folder.resolve("numbered.c"), NUMBERED);
    // on ppc64le they stand between a function's two entries, whose distance must be a power of 2
    List<String> ways =
        compiler.startsWith("powerpc")
            ? List.of("-O0 2", "-O1 6", "-O2 2", "-O1 0")
            : List.of("-O0 4", "-O1 4", "-O2 2", "-O1 5,2", "-O1 0");
    for (String flags : ways) {
      String[] words = flags.split(" ", -1);
      Path program =
          GuestCompiler.compileWith(
              compiler,
              folder.resolve("numbered"),
              "-g",
              words[0],
              "-fno-inline",
              "-fpatchable-function-entry=" + words[1],
              source.toString());
      ElfFile elf = ElfFile.parse(program);
      SourceLines lines = SourceLines.of(elf);
      Map<String, Integer> found = new TreeMap<>();
      for (int i = 0; i < elf.functions().size(); i++) {
        if (NUMBERED.contains(elf.functions().get(i).name() + "(")) {
          found.put(elf.functions().get(i).name(), lines.line(i));
        }
      }
      assertThat(found)
          .as("%s %s", compiler, flags)
          .isEqualTo(Map.of("first", 1, "second", 3, "third", 6, "main", 7));
    }
  }

  private static void assertDeclared(SourceLines lines, Path program, String what)
      throws IOException {
    ElfFile elf = ElfFile.parse(program);
    Map<String, String> found = new TreeMap<>();
    for (int i = 0; i < elf.functions().size(); i++) {
      if (lines.line(i) > 0) {
        String file = lines.files().get(lines.file(i));
        found.put(
            elf.functions().get(i).name(),
            file.substring(file.lastIndexOf('/') + 1) + ":" + lines.line(i));
      }
    }
    assertThat(lines.trouble()).as(what).isEmpty();
    assertThat(found).as(what).isEqualTo(LinedProgram.DECLARED);
  }

  /** Compares the rows: nothing else is read of a program whose functions nothing describes. */
  private static void compare(Path program, boolean plain, String what)
      throws IOException, InterruptedException {
    ElfFile elf = LinedProgram.withoutDescriptions(program);
    SourceLines lines = SourceLines.of(elf);
    assertThat(lines.trouble()).as(what).isEmpty();
    List<Row> rows = rows(program);
    List<String> told = told(program, elf);
    List<String> named = new ArrayList<>();
    for (int i = 0; i < elf.functions().size(); i++) {
      Symbol function = elf.functions().get(i);
      String of = what + " " + function.name();
      Row expected = row(rows, function.address() - elf.bias());
      assertThat(lines.line(i)).as(of).isEqualTo(expected.line());
      if (expected.line() == 0) {
        continue;
      }
      named.add(function.name());
      String file = lines.files().get(lines.file(i));
      assertThat(file).as(of).endsWith(expected.file());
      assertThat(told.get(i).substring(0, told.get(i).lastIndexOf(':'))).as(of).endsWith(file);
      if (plain) { // the line of the body may stand at the same address
        assertThat(told.get(i)).as(of).endsWith(":" + lines.line(i));
      }
    }
    assertThat(named)
        .as(what)
        .contains("first", "second", "made", "leaf", "twice", "helper", "_start");
  }

  /** What the other reader says of the functions, asked once: its start takes longer. */
  private static List<String> told(Path program, ElfFile elf)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(ADDR2LINE, "-e", program.toString()));
    for (Symbol function : elf.functions()) {
      command.add("0x%x".formatted(function.address() - elf.bias()));
    }
    List<String> told =
        run(command.toArray(String[]::new))
            .lines()
            .map(line -> line.strip().replaceFirst(" [(]discriminator [0-9]+[)]$", ""))
            .toList();
    assertThat(told).hasSameSizeAs(elf.functions());
    return told;
  }

  /** The first row at an address, else the last one before it in a sequence that has it. */
  private static Row row(List<Row> rows, long address) {
    Row around = new Row("", 0, 0);
    for (int i = 0; i < rows.size(); i++) {
      Row row = rows.get(i);
      if (row.line() > 0 && row.address() == address) {
        return row;
      }
      if (row.line() > 0
          && row.address() < address
          && i + 1 < rows.size()
          && rows.get(i + 1).address() > address) {
        around = row;
      }
    }
    return around;
  }

  private static List<Row> rows(Path program) throws IOException, InterruptedException {
    List<Row> rows = new ArrayList<>();
    for (String line :
        run("readelf", "-W", "--debug-dump=decodedline", program.toString()).lines().toList()) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        int number = row.group(2).equals("-") ? 0 : Integer.parseInt(row.group(2));
        rows.add(new Row(row.group(1), number, Long.decode(row.group(3))));
      }
    }
    return rows;
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(Arrays.toString(command) + "\n" + said).isZero();
    return said;
  }

  /** What a linker dropped is still in the table, at address 0. */
  @Test
  void rowsOfDroppedFunctionsNameNothing() throws Exception {
    Assumptions.assumeTrue(
        GuestCompiler.installed("x86_64-linux-gnu-gcc") && GuestCompiler.installed("readelf"),
        "skipped: no x86_64-linux-gnu-gcc or readelf");
    Path program =
        LinedProgram.build(
            folder,
            "x86_64-linux-gnu-gcc",
            "-g",
            "-O0",
            "-ffunction-sections",
            "-Wl,--gc-sections,-Ttext=0x0,--entry=twice");
    assertThat(rows(program).stream().filter(row -> row.address() == 0 && row.line() > 0))
        .as("dropped functions")
        .hasSizeGreaterThan(2);
    ElfFile elf = ElfFile.parse(program);
    SourceLines lines = SourceLines.of(elf);
    assertThat(lines.trouble()).isEmpty();
    List<String> named = new ArrayList<>();
    for (int i = 0; i < elf.functions().size(); i++) {
      if (lines.line(i) > 0) {
        named.add(
            elf.functions().get(i).name()
                + " "
                + lines.files().get(lines.file(i)).replaceAll(".*/", "")
                + ":"
                + lines.line(i));
      }
    }
    assertThat(named).isSubsetOf("twice twice.c:4", "helper twice.c:9").isNotEmpty();
  }

  @Test
  void theImageCarriesThemByIndex() throws Exception {
    GuestCompiler.X86_64.assumeInstalled();
    Path program = LinedProgram.build(folder, "x86_64-linux-gnu-gcc", "-g", "-O2");
    LoadedImage loaded = LoadedImage.load(program);
    Image image = loaded.toSchema();
    assertThat(image.getLines()).hasSize(loaded.lines().known()).hasSizeGreaterThan(5);
    assertThat(image.getFiles()).hasSize(5).doesNotHaveDuplicates();
    var made =
        image.getLines().stream()
            .filter(line -> image.getSymbols().get(line.getSymbol()).getName().equals("made"))
            .findFirst()
            .orElseThrow();
    assertThat(image.getFiles().get(made.getFile())).endsWith("made/by \"hand\".y");
    assertThat(made.getLine()).isEqualTo(700);
  }

  @Test
  void anImageWithoutTablesHasNoLinesAndNoTrouble() throws Exception {
    GuestCompiler.X86_64.assumeInstalled();
    Path program = LinedProgram.build(folder, "x86_64-linux-gnu-gcc", "-g0");
    LoadedImage loaded = LoadedImage.load(program);
    assertThat(loaded.lines().trouble()).isEmpty();
    assertThat(loaded.lines().known()).isZero();
    assertThat(loaded.toSchema().getLines()).isEmpty();
  }
}
