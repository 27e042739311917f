package dev.retstack.schema.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Avro refuses generated classes unless told otherwise: users need not know (see AvroGuard). */
class WithoutFlagsTest {
  @ParameterizedTest
  @ValueSource(strings = {"message", "trace"})
  void oursAreReadInAPlainJvm(String what) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                WithoutFlags.class.getName(),
                what,
                "golden/v1")
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).contains("core core-0");
  }
}
