package dev.retstack.graph.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.testing.Seeds;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/**
 * A hostile stream cannot make a core grow beyond what STATE.md states, in a heap that is small.
 */
@Order(1)
class BoundedMemoryTest {
  /** STATE.md, "Memory": a core and its image, with the limits of replay and 16,384 functions. */
  private static final long STATED = 96L << 20;

  /** STATE.md, "Memory": stacks of tasks and interrupts, deep ones among them, and the tree. */
  private static final long STATED_OF_TASKS = 96L << 20;

  /** STATE.md, "Memory": two thousand quiet cores of one image of 10,000 functions. */
  private static final long STATED_OF_FLEET = 48L << 20;

  /** Chunks of each kind that are sent where nobody asks for more. */
  private static final int SHORT = 500;

  private static final int CHUNKS = Integer.getInteger("retstack.rounds", SHORT);
  private static final boolean LONG = CHUNKS > SHORT;

  /**
   * A way of which so many chunks were refused has shown what it does, unless all are asked for.
   */
  private static final int ENOUGH = 20;

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

  /**
   * The long form: {@code -Dretstack.rounds=1000000} chunks of each kind, with the budget that a
   * member of this heap has.
   */
  @Test
  void theBudgetHoldsWhateverMakesStatesGrow() throws Exception {
    long seed = Seeds.fresh();
    String mebibytes = LONG ? "80" : "8";
    String enough = "" + (LONG ? Integer.MAX_VALUE : ENOUGH);
    String said = run("256m", BudgetHog.class, "" + seed, "" + CHUNKS, mebibytes, enough);
    assertThat(said.lines()).as("seed %d", seed).hasSize(BudgetHog.Way.values().length);
    for (String line : said.lines().toList()) {
      String[] words = line.split(" ", -1);
      long cut = Long.parseLong(words[3]);
      long accounts = Long.parseLong(words[5]);
      long heap = Long.parseLong(words[6]);
      assertThat(cut).as(line).isPositive();
      assertThat(heap).as(line).isBetween(accounts * 3 / 4, accounts * 5 / 4);
    }
  }

  /** Never below, which would end the process; little above, which would refuse what fits. */
  @Test
  void accountsAreWhatTheHeapHolds() throws Exception {
    String[] howMuch = LONG ? new String[] {"full"} : new String[0];
    String said = run("768m", AccountsHog.class, howMuch);
    assertThat(said.lines()).hasSize(AccountsHog.Shape.values().length);
    agree(said);
  }

  @Test
  void theAccountOfTheIndexIsWhatTheHeapHolds() throws Exception {
    String said = run("256m", PlacesHog.class, Long.toString(Seeds.fresh()));
    assertThat(said.lines()).hasSize(3);
    agree(said);
  }

  private static void agree(String said) {
    System.out.print(said);
    for (String line : said.lines().toList()) {
      String[] words = line.split(" ", -1);
      for (int at = 1; at < words.length; at += 2) {
        long heap = Long.parseLong(words[at + 1]);
        assertThat(Long.parseLong(words[at])).as(line).isBetween(heap, heap * 115 / 100);
      }
    }
  }

  private static void stays(Class<?> hogs, long stated) throws Exception {
    long seed = Seeds.fresh();
    String said = run("160m", hogs, Long.toString(seed));
    assertThat(Long.parseLong(said.strip()))
        .as("-Dretstack.seed=%d", seed)
        .isBetween(1L << 20, stated);
  }

  private static String run(String heap, Class<?> hogs, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx" + heap));
    command.add("-XX:+UseG1GC"); // of which a budget knows the regions
    // many small collections by many threads would take half of the time
    command.addAll(List.of("-Xms" + heap, "-XX:ParallelGCThreads=1", "-XX:ConcGCThreads=1"));
    command.add("--enable-native-access=ALL-UNNAMED");
    for (String opened : List.of("lang", "util", "util.concurrent", "util.concurrent.atomic")) {
      command.add("--add-opens=java.base/java." + opened + "=ALL-UNNAMED"); // for HeapWalk
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), hogs.getName()));
    command.addAll(List.of(arguments));
    Process hog = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(hog.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(hog.waitFor()).as("%s: %s", List.of(arguments), said).isZero();
    return said;
  }
}
