package dev.retstack.machine.isa;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of ISAs. */
class IsasTest {
  private static final Path CARDS =
      Path.of(
          System.getProperty("retstack.root"),
          "emulators/machine/src/main/java/dev/retstack/machine/isa");

  /** Whatever a class of the package holds as an ISA is in the table, and nothing else is. */
  @Test
  void everyIsaIsInTheTable() throws Exception {
    List<Isa> declared = new ArrayList<>();
    try (Stream<Path> files = Files.list(CARDS)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        String type = file.getFileName().toString().replace(".java", "");
        if (!type.equals("package-info")) {
          for (Field field :
              Class.forName(Isa.class.getPackageName() + "." + type).getDeclaredFields()) {
            if (field.getType() == Isa.class && Modifier.isStatic(field.getModifiers())) {
              declared.add((Isa) field.get(null));
            }
          }
        }
      }
    }
    assertThat(Isas.all()).containsExactlyInAnyOrderElementsOf(declared);
  }
}
