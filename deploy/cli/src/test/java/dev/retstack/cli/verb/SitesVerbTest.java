package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The list of call sites as users and programs read it. */
class SitesVerbTest {
  @TempDir private Path dir;

  @Test
  void textTellsFunctionAddressFormBytesAndSource() {
    Ran ran = Ran.well("sites", "zoo-s390x-mcount-nop", "--function", "fib");
    assertThat(ran.out().lines().toList()).hasSize(2);
    assertThat(ran.out())
        .containsPattern(
            "0x[0-9a-f]+ +fib +mcount-nop +nop +3 x nop"
                + " +c0 04 00 00 00 00 c0 04 00 00 00 00 c0 04 00 00 00 00 +mcount_loc");
    assertThat(ran.err())
        .containsPattern(
            "zoo-s390x-mcount-nop.elf \\(s390x\\): 1 of \\d+ sites, in 1 function: 1 nop");
  }

  @Test
  void jsonAndCsvHaveEverySite() throws Exception {
    Ran json = Ran.retstack("sites", "zoo-riscv64-mcount", "--format", "json");
    JsonNode document = new ObjectMapper().readTree(json.out());
    assertThat(document.get("isa").asText()).isEqualTo("riscv64");
    assertThat(document.get("sites")).isNotEmpty();
    for (JsonNode site : document.get("sites")) {
      assertThat(site.get("state").asText()).isEqualTo("call");
      assertThat(site.get("source").asText()).isEqualTo("scan");
      assertThat(site.get("bytes").asText()).matches("([0-9a-f]{2})+");
    }
    List<String> csv =
        Ran.retstack("sites", "zoo-riscv64-mcount", "--format", "csv").out().lines().toList();
    assertThat(csv.getFirst())
        .isEqualTo("address,function,convention,state,form,bytes,source,entered");
    assertThat(csv).hasSize(document.get("sites").size() + 1);
  }

  @Test
  void aFileWithoutSitesOrThatIsNoProgramIsBadInput() throws Exception {
    Path text = Files.writeString(dir.resolve("notes.txt"), "not an ELF file, but long enough");
    Ran noProgram = Ran.retstack("sites", text.toString());
    assertThat(noProgram.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(noProgram.err()).contains("notes.txt");
    Ran missing = Ran.retstack("sites", dir.resolve("nothing.elf").toString());
    assertThat(missing.code()).isEqualTo(ExitCode.BAD_INPUT);
    Ran nothing = Ran.retstack("sites");
    assertThat(nothing.code()).isEqualTo(ExitCode.USAGE);
    byte[] image = Files.readAllBytes(zoo("zoo-riscv64-mcount.elf"));
    Path plain = dir.resolve("plain.elf");
    Files.write(plain, renamed(image, "_mcount", "_nobody"));
    Ran without = Ran.retstack("sites", plain.toString());
    assertThat(without.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(without.err()).contains("no call sites in plain.elf").contains("compile with -pg");
  }

  @Test
  void functionsWithoutAFrameAreEnteredAtTheirFirstInstruction() throws Exception {
    String code = "int f(int x) { return x + 1; } int main(int n) { return f(n) - 2; }";
    Path source = Files.writeString(dir.resolve("f.c"), code);
    for (String frame : List.of("-g0", "-fno-omit-frame-pointer")) {
      Path program = dir.resolve("f" + frame);
      compileBy("m68k-linux-gnu-gcc", "-O2", "-pg", frame, "-static", source, "-o", program);
      Ran sites = Ran.well("sites", program.toString());
      assertThat(sites.out()).containsPattern(frame.equals("-g0") ? " first *\n" : " site *\n");
      Ran record = Ran.well("record", "--image", program.toString(), "-o", program + ".avro");
      assertThat(record.err()).contains("2 records").doesNotContain("not in the trace");
    }
  }

  @Test
  void aRunThatMissesMuchSaysSoInItsLastLine() throws Exception {
    String code =
        "__attribute__((noinline)) int f(int x) { return x + 1; } int main(int n) { return f(n) - 2; }";
    Path source = Files.writeString(dir.resolve("f.c"), code);
    Path program = dir.resolve("f");
    String trace = program + ".avro";
    compileBy("arm-linux-gnueabihf-gcc", "-O1", "-mthumb", "-pg", "-s", source, "-o", program);
    assertThat(Ran.well("sites", program.toString()).out()).containsPattern(" untraced *\n");
    Ran record = Ran.well("record", "--image", program.toString(), "-o", trace);
    assertThat(record.err().lines().toList().getLast())
        .containsPattern("at least [0-9.]+ % of the calls are not in the trace: 2 calls, of 0x")
        .contains("--tracer function");
    Ran entries =
        Ran.well("record", "--tracer", "function", "--image", program.toString(), "-o", trace);
    assertThat(entries.err()).doesNotContain("not in the trace").doesNotContain("calls untraced");
    assertThat(Ran.well("report", trace).out()).contains("0x");
  }

  @Test
  void entriesOfATableThatAreNoCodeAreSaid() throws Exception {
    String wrong = "asm(\".section __patchable_function_entries,\\\"aw\\\"; .quad 5; .previous\");";
    Path code = Files.writeString(dir.resolve("f.c"), "int main(void) { return 0; }");
    Path table = Files.writeString(dir.resolve("table.c"), wrong);
    Path program = dir.resolve("f");
    compile("-fpatchable-function-entry=5", "-static", code, table, "-o", program);
    for (String line : List.of("sites %s", "record --image %s -o " + program + ".avro")) {
      Ran ran = Ran.well(line.formatted(program).split(" ", -1));
      assertThat(ran.err())
          .contains(
              "1 of 2 entries of __patchable_function_entries ignored: not addresses of code");
    }
  }

  @Test
  void sitesOfAnObjectStandInSections() throws Exception {
    Path source = Files.writeString(dir.resolve("f.c"), "int f(int x) { return x + 1; }");
    Path object = dir.resolve("f.o");
    compile("-pg", "-mfentry", "-fno-pie", "-fcf-protection=none", "-c", source, "-o", object);
    Ran text = Ran.well("sites", object.toString());
    assertThat(text.out())
        .containsPattern("\\.text\\+0x0 +f +fentry +call +call +e8 00 00 00 00 +relocation");
    Ran json = Ran.retstack("sites", object.toString(), "--format", "json");
    JsonNode site = new ObjectMapper().readTree(json.out()).get("sites").get(0);
    assertThat(site.get("address").asText()).isEqualTo(".text+0x0");
    assertThat(site.get("source").asText()).isEqualTo("relocation");
    Files.write(object, Arrays.copyOf(Files.readAllBytes(object), 600));
    Ran cut = Ran.retstack("sites", object.toString());
    assertThat(cut.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(cut.err()).contains("f.o: e_shoff is").contains("cut off or damaged");
  }

  private static void compile(Object... arguments) throws Exception {
    compileBy("x86_64-linux-gnu-gcc", arguments);
  }

  private static void compileBy(String compiler, Object... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(compiler));
    Stream.of(arguments).map(Object::toString).forEach(command::add);
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      Assumptions.abort("skipped: " + e.getMessage());
      return;
    }
    byte[] said = process.getInputStream().readAllBytes();
    assertThat(process.waitFor()).as(new String(said, StandardCharsets.UTF_8)).isZero();
  }

  private static Path zoo(String name) {
    return dev.retstack.cli.house.Repository.root().resolve("emulators/guest/images").resolve(name);
  }

  private static byte[] renamed(byte[] file, String from, String to) {
    byte[] changed = file.clone();
    byte[] name = to.getBytes(StandardCharsets.ISO_8859_1);
    String text = new String(file, StandardCharsets.ISO_8859_1);
    for (int at = text.indexOf(from); at >= 0; at = text.indexOf(from, at + 1)) {
      System.arraycopy(name, 0, changed, at, name.length);
    }
    return changed;
  }
}
