package dev.retstack.cli.operator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What {@code install.sh} lays out runs without the checkout, wherever it is, for any user. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InstallationTest {
  private static final Path NATIVE =
      Path.of("emulators/fleet/target/classes/dev/retstack/fleet/probe/nativec");
  private static final String PINS =
      "emulators/unicorn/src/main/resources/dev/retstack/unicorn/library/libunicorn.sha256";
  private static final long PAUSE_NANOS = 50_000_000; // who is waited for has the processor then
  private static final int PATIENCE_MINUTES = 2;

  private Path dir;
  private Path checkout;
  private Path installed;
  private Path folder;

  /** The steps of deploy/README.md below another root than the machine's. */
  @BeforeAll
  void install() throws Exception {
    dir = Files.createTempDirectory("retstack-installation");
    checkout = checkout(dir.resolve("checkout"));
    installed = dir.resolve("machine");
    folder = installed.resolve("opt/retstack");
    assertThat(steps()).contains("sudo deploy/install/install.sh --systemd");
    OperatorRun.succeeds(
        checkout, Map.of(), "deploy/install/install.sh", "--systemd", "--destdir", "" + installed);
  }

  /** Links to a JDK are among it, of which JUnit would warn. */
  @AfterAll
  void remove() throws Exception {
    OperatorRun.succeeds(Path.of("/"), Map.of(), "rm", "-rf", "" + dir);
  }

  /** A checkout of these sources and classes, as it is after a build. */
  private static Path checkout(Path made) throws IOException {
    Path root = Repository.root();
    for (String file : List.of("retstack", "pom.xml", PINS)) {
      copy(root.resolve(file), made.resolve(file));
    }
    copy(root.resolve("deploy"), made.resolve("deploy"));
    copy(root.resolve("emulators/guest/images"), made.resolve("emulators/guest/images"));
    if (Files.exists(root.resolve(NATIVE))) {
      copy(root.resolve(NATIVE), made.resolve(NATIVE));
    }
    // the golden trace is left out: class archives of few classes are made soon
    Files.createDirectories(made.resolve("schemas"));
    Files.createDirectories(made.resolve("pipeline"));
    Path target = Files.createDirectories(made.resolve("deploy/cli/target"));
    List<String> jars = new ArrayList<>();
    pack(root.resolve("deploy/cli/target/classes"), target.resolve("retstack-cli.jar"));
    for (String entry : runtimeClasspath().split(":")) {
      Path path = Path.of(entry);
      if (Files.isDirectory(path)) {
        Path jar = target.resolve("module-" + jars.size() + ".jar");
        pack(path, jar);
        path = jar;
      }
      jars.add(path.toString());
    }
    Files.writeString(target.resolve("classpath"), String.join(":", jars));
    Files.createFile(target.resolve("built"));
    return made;
  }

  private static void pack(Path classes, Path jar) {
    PrintStream out = System.out;
    ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
    assertThat(tool.run(out, out, "-c", "-0", "-f", "" + jar, "-C", "" + classes, ".")).isZero();
  }

  private static String runtimeClasspath() throws IOException {
    try (InputStream in = InstallationTest.class.getResourceAsStream("/runtime-classpath")) {
      return new String(in.readAllBytes(), UTF_8).strip();
    }
  }

  /** Copies a file, or a folder without what is built and without sources of Java. */
  private static void copy(Path from, Path to) throws IOException {
    boolean built = from.toString().contains("/target/");
    Files.walkFileTree(
        from,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path one, BasicFileAttributes attributes) {
            String name = one.getFileName().toString();
            return !built && List.of("target", "src").contains(name)
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path one, BasicFileAttributes attributes)
              throws IOException {
            Path copy = to.resolve(from.relativize(one).toString());
            Files.createDirectories(copy.getParent());
            Files.copy(one, copy);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** Lines of the section of deploy/README.md that says how to run retstack under systemd. */
  private static List<String> steps() throws IOException {
    String readme = Files.readString(OperatorFiles.deploy("README.md"));
    String section = readme.substring(readme.indexOf("## Run as services of systemd"));
    String fence = section.substring(section.indexOf("```sh\n") + 6);
    return fence
        .substring(0, fence.indexOf("```"))
        .lines()
        .map(line -> line.replaceFirst(" +#.*", ""))
        .toList();
  }

  @Test
  void unitsRunForAnotherUserWhoWritesNothing() throws Exception {
    Assumptions.assumeTrue(OperatorRun.isRoot(), "not root: cannot become the user of the units");
    assertThat(steps())
        .contains("sudo /opt/retstack/secrets.sh /etc/retstack/secrets \"$(hostname)\"");
    Path secrets = installed.resolve("etc/retstack/secrets");
    OperatorRun.succeeds(dir, Map.of(), folder + "/secrets.sh", "" + secrets, "machine");
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("broker"), 0)) {
      Path environment = installed.resolve("etc/retstack/retstack.env");
      String example = Files.readString(environment);
      Files.writeString(environment, example.replace("127.0.0.1:9092", broker.bootstrap()));
      String instance = freeInstance();
      try (UnitProcess member = unit("retstack-pipeline", instance);
          UnitProcess fleet = unit("retstack-fleet", "example")) {
        assertThat(fleet.awaitLine("records in retstack")).contains("4 cores, 102,220 records");
        assertThat(fleet.exitCode()).isZero();
        member.awaitLine("answers at");
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
        for (long are = applied(instance, secrets);
            are < 102_220;
            are = applied(instance, secrets)) {
          assertThat(System.nanoTime()).as("%d records applied", are).isLessThan(deadline);
          LockSupport.parkNanos(PAUSE_NANOS);
        }
        member.terminate();
        Path unit = installed.resolve("etc/systemd/system/retstack-pipeline@.service");
        assertThat(UnitProcess.values(unit, "SuccessExitStatus"))
            .containsExactly("" + member.exitCode());
      }
    }
  }

  private UnitProcess unit(String name, String instance) throws IOException {
    return UnitProcess.start(installed, dir.resolve("view-" + name), name, instance);
  }

  /** Records that the member has applied; 0 before it is ready. */
  private static long applied(String instance, Path secrets) throws IOException {
    Ran report =
        Ran.retstack(
            "report",
            "--live",
            "--format=json",
            "--http=https://localhost:707" + instance,
            "--http-token-file=" + secrets.resolve("token"),
            "--http-ca=" + secrets.resolve("ca.pem"));
    return report.code() == 0
        ? new ObjectMapper().readTree(report.out()).path("records").asLong()
        : 0;
  }

  /** An instance whose port is free. */
  private static String freeInstance() {
    for (int digit = 0; digit < 10; digit++) {
      try (ServerSocket _ = new ServerSocket(7070 + digit, 1, InetAddress.getByName("0.0.0.0"))) {
        return "" + digit;
      } catch (IOException _) {
        // taken: another one
      }
    }
    throw new IllegalStateException("ports 7070 to 7079 are all taken");
  }

  @Test
  void aFolderThatMovedStartsWithItsClassArchive() throws Exception {
    Path moved = dir.resolve("moved to/a folder");
    copyAsItIs(folder, moved);
    Path log = dir.resolve("classes.log");
    String said =
        OperatorRun.succeeds(
            dir,
            Map.of("RETSTACK_JAVA_OPTS", "-Xlog:class+load:file=" + log),
            moved + "/retstack",
            "isa");
    assertThat(said).contains("riscv64");
    assertThat(Files.readString(log))
        .contains("dev.retstack.cli.Main source: shared objects file (top)");
    assertThat(OperatorRun.succeeds(dir, Map.of(), moved + "/retstack", "doctor"))
        .contains(moved + "/emulators/libunicorn.so.2");
  }

  private void copyAsItIs(Path from, Path to) throws Exception {
    Files.createDirectories(to.getParent());
    OperatorRun.succeeds(dir, Map.of(), "cp", "-a", "" + from, "" + to);
  }

  @Test
  void aNewInstallationReplacesTheFolderAndKeepsSettings() throws Exception {
    Path other = dir.resolve("other");
    copyAsItIs(installed, other);
    Path environment = other.resolve("etc/retstack/retstack.env");
    Files.writeString(environment, "KAFKA_BOOTSTRAP_SERVERS=kafka-1:9092\n");
    Path left = Files.createFile(other.resolve("opt/retstack/lib/999-old.jar"));
    OperatorRun.succeeds(
        checkout,
        Map.of(),
        "deploy/install/install.sh",
        "--systemd",
        "--no-emulators",
        "--destdir",
        "" + other);
    assertThat(left).doesNotExist();
    assertThat(environment).hasContent("KAFKA_BOOTSTRAP_SERVERS=kafka-1:9092");
    assertThat(other.resolve("opt/retstack/emulators")).doesNotExist();
    try (Stream<Path> files = Files.list(other.resolve("opt"))) {
      assertThat(files).containsExactly(other.resolve("opt/retstack"));
    }
  }

  @Test
  void aFolderOfOthersIsLeftAsItIs() throws Exception {
    Path mine = Files.createDirectories(dir.resolve("home/mine"));
    Path letter = Files.writeString(mine.resolve("letter"), "mine");
    String said =
        OperatorRun.ends(4, checkout, Map.of(), "deploy/install/install.sh", "--prefix", "" + mine);
    assertThat(said).contains(mine + " is no installation of retstack and not empty");
    assertThat(letter).hasContent("mine");
    assertThat(
            OperatorRun.ends(
                2, checkout, Map.of(), "deploy/install/install.sh", "--prefix", "here"))
        .contains("--prefix here: give a path");
  }

  @Test
  void withoutJava25TheCommandSaysWhereItLooked() throws Exception {
    Path moved = dir.resolve("elsewhere");
    copyAsItIs(folder, moved);
    Files.delete(moved.resolve("java"));
    Path old = Files.createDirectories(dir.resolve("old/bin")).getParent();
    Files.writeString(old.resolve("release"), "JAVA_VERSION=\"17.0.15\"\n");
    Files.createSymbolicLink(old.resolve("bin/java"), Path.of("/bin/true"));
    Map<String, String> environment = Map.of("JAVA_HOME", "" + old, "PATH", "/usr/bin:/bin");
    Path usual = Path.of("/usr/bin/java");
    Assumptions.assumeFalse(
        Files.exists(usual) && usual.toRealPath().toString().contains("25"),
        "the machine's own java is the one looked for");
    assertThat(OperatorRun.ends(4, dir, environment, moved + "/retstack", "--version"))
        .isEqualTo(
            "retstack: no Java 25: searched JAVA_HOME, %s/java and PATH: set JAVA_HOME to one\n"
                .formatted(moved));
  }

  @Test
  void bothLaunchersPassTheSameFlags() throws Exception {
    String launcher = Files.readString(Repository.root().resolve("retstack"));
    List<String> flags =
        Files.readAllLines(OperatorFiles.deploy("install/jvm.args")).stream()
            .filter(line -> line.startsWith("-"))
            .toList();
    assertThat(flags).hasSizeGreaterThan(3);
    assertThat(flags).allSatisfy(flag -> assertThat(launcher).contains(flag));
  }
}
