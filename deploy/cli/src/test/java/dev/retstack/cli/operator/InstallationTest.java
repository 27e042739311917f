package dev.retstack.cli.operator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.BuiltCheckout;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
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
  private static final String SETTING = "client.dns.lookup = use_all_dns_ips";
  private static final long PAUSE_NANOS = 50_000_000; // who is waited for has the processor then
  private static final int PATIENCE_MINUTES = 2;

  /** Class archives that are made. The long form makes all. */
  private static final String ARCHIVES = System.getProperty("retstack.archives", "classes");

  private Path dir;
  private Path checkout;
  private Path installed;
  private Path folder;
  private Path setting;

  /**
   * The steps of deploy/README.md below another root than the machine's, which has an older one.
   */
  @BeforeAll
  void install() throws Exception {
    dir = Files.createTempDirectory("retstack-installation");
    checkout = checkout(dir.resolve("checkout"));
    installed = dir.resolve("machine");
    folder = installed.resolve("opt/retstack");
    Files.createDirectories(folder.resolve("lib"));
    Files.createFile(folder.resolve("jvm.args"));
    Files.createFile(folder.resolve("lib/999-old.jar"));
    setting = installed.resolve("etc/retstack/secrets/kafka.properties");
    Files.createDirectories(setting.getParent());
    Files.writeString(setting, SETTING);
    assertThat(steps()).contains("sudo deploy/install/install.sh --systemd");
    OperatorRun.succeeds(
        checkout,
        Map.of(),
        "deploy/install/install.sh",
        "--systemd",
        "--destdir",
        "" + installed,
        "--archives",
        ARCHIVES);
  }

  /** Links to a JDK are among it, of which JUnit would warn. */
  @AfterAll
  void remove() throws Exception {
    OperatorRun.succeeds(Path.of("/"), Map.of(), "rm", "-rf", "" + dir);
  }

  /**
   * A checkout of these classes, as it is after a build. The golden trace is left out: class
   * archives of few classes are made soon.
   */
  private Path checkout(Path made) throws IOException {
    List<Path> jars = new ArrayList<>();
    jars.add(jar(Repository.root().resolve("deploy/cli/target/classes"), 0));
    try (InputStream in = InstallationTest.class.getResourceAsStream("/runtime-classpath")) {
      for (String entry : new String(in.readAllBytes(), UTF_8).strip().split(":", -1)) {
        jars.add(jar(Path.of(entry), jars.size()));
      }
    }
    BuiltCheckout.make(made, jars);
    for (String folder : List.of("deploy/install", "deploy/systemd", "emulators/guest/images")) {
      try (Stream<Path> files = Files.walk(Repository.root().resolve(folder))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          BuiltCheckout.copy(made, Repository.root().relativize(file).toString());
        }
      }
    }
    for (String file : List.of("secrets.sh", "fleet.conf", "kafka.properties")) {
      BuiltCheckout.copy(made, "deploy/" + file);
    }
    return made;
  }

  /** A folder of classes as a jar; a jar as it is. */
  private Path jar(Path entry, int number) throws IOException {
    if (!Files.isDirectory(entry)) {
      return entry;
    }
    Path jar = Files.createDirectories(dir.resolve("jars")).resolve(number + ".jar");
    ToolProvider tool = ToolProvider.findFirst("jar").orElseThrow();
    assertThat(tool.run(System.out, System.out, "-c0f", "" + jar, "-C", "" + entry, ".")).isZero();
    return jar;
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
    OperatorRun.assumeOtherUsers();
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
        assertThat(member.awaitLine("answers at")).doesNotContain("0.0.0.0");
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
  void classArchivesAreThoseAskedFor() throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(
              files
                  .map(file -> "" + file.getFileName())
                  .filter(name -> name.matches(".*\\.(aot|jsa)")))
          .containsExactlyInAnyOrderElementsOf(
              Stream.of(ARCHIVES.split(",", -1))
                  .map(group -> group + (group.equals("servers") ? ".jsa" : ".aot"))
                  .toList());
    }
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
    assertThat(Files.readString(log)).contains("dev.retstack.cli.Main source: shared objects file");
    assertThat(OperatorRun.succeeds(dir, Map.of(), moved + "/retstack", "doctor"))
        .contains(moved + "/emulators/libunicorn.so.2");
  }

  private void copyAsItIs(Path from, Path to) throws Exception {
    Files.createDirectories(to.getParent());
    OperatorRun.succeeds(dir, Map.of(), "cp", "-a", "" + from, "" + to);
  }

  @Test
  void aNewInstallationReplacesTheFolderAndKeepsSettings() throws Exception {
    assertThat(folder.resolve("lib/999-old.jar")).doesNotExist();
    assertThat(setting).hasContent(SETTING);
    try (Stream<Path> files = Files.list(folder.getParent())) {
      assertThat(files).containsExactly(folder);
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
}
