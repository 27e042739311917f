package dev.retstack.fleet.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.wire.ConfluentFrame;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The message that announces an image can be read, however many functions the image has. */
class ManyFunctionsTest {
  @TempDir private Path folder;

  /**
   * @param traced functions with a call site
   * @param others functions without
   * @param named functions whose names readers get
   * @param leftOut what the user is told
   */
  @ParameterizedTest
  @CsvSource({
    "1000, 1000, 2000, ''",
    "150000, 10000, 160000, they have no source lines",
    "150000, 200000, 150000, 'only the 150,000 functions with call sites have names'",
    "300000, 0, 0, addresses stand in place of names",
  })
  void namesAreLeftOutAsTheMessageFills(int traced, int others, int named, String leftOut)
      throws Exception {
    LoadedImage image = LoadedImage.load(program(traced, others));
    assertThat(image.callSites()).hasSize(traced);
    Image announced = image.toSchema();
    assertThat(announced.getSymbols().stream().map(Symbol::getName))
        .filteredOn(name -> name.startsWith("a_function_"))
        .hasSize(named);
    assertThat(announced.getMcountLoc()).hasSize(traced);
    assertThat(image.leftOut().orElse("")).endsWith(leftOut);
    Path trace = folder.resolve("trace.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(trace)) {
      writer.write(announced);
    }
    try (TraceFileReader reader = TraceFileReader.open(trace)) {
      assertThat(reader.next().getImage()).isEqualTo(announced);
    }
  }

  /**
   * @param functions each with an alias
   * @param announced aliases that readers get
   */
  @ParameterizedTest
  @CsvSource({
    "1000, 1000, ''",
    "110000, 110000, they have no source lines",
    "160000, 0, 'they have no source lines, and one name each: no aliases'",
  })
  void aliasesAreLeftOutBeforeNames(int functions, int announced, String leftOut) throws Exception {
    LoadedImage image = LoadedImage.load(program(functions, 0, 1));
    Image message = image.toSchema();
    assertThat(message.getSymbols()).hasSizeGreaterThanOrEqualTo(functions);
    assertThat(message.getOtherNames()).hasSize(announced);
    assertThat(image.leftOut().orElse("")).endsWith(leftOut);
    assertThat(ConfluentFrame.encode(message)).hasSizeLessThan(ConfluentFrame.MESSAGE_BYTES_MAX);
    Chunks.check(message);
  }

  /** Names at one address are bounded, and the user hears of it. */
  @Test
  void namesOfOneFunctionAreBounded() throws Exception {
    LoadedImage image = LoadedImage.load(program(1, 0, 1_000_000));
    Image message = image.toSchema();
    assertThat(message.getOtherNames()).hasSize(FunctionName.OTHERS_MAX);
    assertThat(image.leftOut().orElse(""))
        .endsWith(
            "alias_0_of_0 has 1,000,000 other names; answers know 4,096 of them, filters of a run"
                + " all");
    Chunks.check(message);
    assertThat(SiteCatalog.of(image).has(FunctionPattern.parse("alias_999999_of_0"))).isTrue();
  }

  private Path program(int traced, int others) throws Exception {
    return program(traced, others, 0);
  }

  private Path program(int traced, int others, int aliases) throws Exception {
    StringBuilder text = new StringBuilder(".text\n.globl _start\n_start: ret\n");
    for (int i = 0; i < traced + others; i++) {
      String name = "a_function_with_a_name_as_long_as_in_other_places_" + i;
      text.append(".type %1$s,@function\n%1$s: ".formatted(name))
          .append(i < traced ? "call __fentry__\n" : "")
          .append("ret\n.size %1$s,.-%1$s\n".formatted(name));
      for (int alias = 0; alias < aliases; alias++) {
        String other = "alias_%d_of_%d".formatted(alias, i);
        text.append(".type %1$s,@function\n.set %1$s,%2$s\n".formatted(other, name));
      }
    }
    text.append(".globl __fentry__\n.type __fentry__,@function\n__fentry__: ret\n");
    Path source = Files.writeString(folder.resolve("many.s"), text);
    return GuestCompiler.X86_64
        .assumeInstalled()
        .compile(folder.resolve("many"), "-nostdlib", "-static", "-no-pie", source.toString());
  }
}
