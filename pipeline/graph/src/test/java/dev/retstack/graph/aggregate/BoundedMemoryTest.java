package dev.retstack.graph.aggregate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.Seeds;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A hostile stream cannot make a core grow beyond what README.md states, in a heap that is small.
 */
class BoundedMemoryTest {
  /** README.md, "Memory": a core and its image, with the limits of replay and 16,384 functions. */
  private static final long STATED = 96L << 20;

  /** README.md, "Memory": stacks of tasks and interrupts, deep ones among them, and the tree. */
  private static final long STATED_OF_TASKS = 96L << 20;

  /** README.md, "Memory": two thousand quiet cores of one image of 10,000 functions. */
  private static final long STATED_OF_FLEET = 48L << 20;

  @Test
  void aHostileStreamStaysWithinWhatIsStated() throws Exception {
    stays(MemoryHog.class, STATED);
  }

  @Test
  void tasksAndInterruptsWithoutEndStayWithinWhatIsStated() throws Exception {
    stays(TaskHog.class, STATED_OF_TASKS);
  }

  @Test
  void coresOfOneImageShareWhatTheImageHas() throws Exception {
    stays(FleetHog.class, STATED_OF_FLEET);
  }

  private static void stays(Class<?> hogs, long stated) throws Exception {
    long seed = Seeds.fresh();
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process hog =
        new ProcessBuilder(
                List.of(
                    java,
                    "-Xmx160m",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    hogs.getName(),
                    Long.toString(seed)))
            .redirectErrorStream(true)
            .start();
    String said = new String(hog.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(hog.waitFor()).as("-Dretstack.seed=%d: %s", seed, said).isZero();
    assertThat(Long.parseLong(said.strip()))
        .as("-Dretstack.seed=%d", seed)
        .isBetween(1L << 20, stated);
  }
}
