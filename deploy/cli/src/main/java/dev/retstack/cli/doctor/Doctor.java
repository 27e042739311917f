package dev.retstack.cli.doctor;

import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Terminal;
import dev.retstack.fleet.probe.nativec.NativeLibrary;
import dev.retstack.unicorn.library.LibraryLocator;
import dev.retstack.unicorn.library.UnicornLoadException;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.KafkaException;

/** The checks of this machine: JVM, libunicorn, probe, network, disk, tools, and Kafka if asked. */
public final class Doctor {
  private static final String KAFKA_TIMEOUT_MS = "5000";
  private static final int FEATURE_NEEDED = 25;
  private static final long MEMORY_NEEDED_MIB = 2048;
  private static final long DISK_NEEDED_MIB = 1024;

  private final Terminal terminal;

  public Doctor(Terminal terminal) {
    this.terminal = terminal;
  }

  /** Looks at everything but Kafka. */
  public List<Finding> checkMachine() {
    List<Finding> findings = new ArrayList<>();
    findings.add(jdk());
    findings.add(flags());
    findings.add(memory());
    findings.add(unicorn());
    findings.add(probe());
    findings.add(loopback());
    findings.add(
        folder(
            "working folder",
            Path.of("").toAbsolutePath(),
            "change to a folder that you may write to"));
    findings.add(folder("cache", cache(), "set XDG_CACHE_HOME to a folder that you may write to"));
    findings.add(maven());
    findings.addAll(packages());
    return findings;
  }

  /** Asks a Kafka cluster for a sign of life; takes some seconds if there is none. */
  public static Finding checkKafka(String bootstrap, Map<String, String> security) {
    Map<String, Object> settings = new HashMap<>(security);
    settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, KAFKA_TIMEOUT_MS);
    settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, KAFKA_TIMEOUT_MS);
    try (Admin admin = Admin.create(settings)) {
      int nodes = admin.describeCluster().nodes().get().size();
      return Finding.ok("kafka", bootstrap + ", " + nodes + " node(s)");
    } catch (ExecutionException | KafkaException e) {
      Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
      return Finding.missing(
          "kafka",
          bootstrap + " does not answer: " + cause.getMessage(),
          "check the address and the security settings, or start one: retstack broker --dir DIR");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Finding.missing("kafka", bootstrap + ": interrupted", "");
    }
  }

  private static Finding jdk() {
    String found = Runtime.version() + " in " + System.getProperty("java.home");
    return Runtime.version().feature() >= FEATURE_NEEDED
        ? Finding.ok("jdk", found)
        : Finding.missing("jdk", found, "install JDK 25 and start with ./retstack, which finds it");
  }

  private static Finding flags() {
    return Doctor.class.getModule().isNativeAccessEnabled()
        ? Finding.ok("jvm flags", "native access allowed")
        : Finding.warn(
            "jvm flags", "no native access", "start with ./retstack, which passes the flags");
  }

  private static Finding memory() {
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long totalMib = system.getTotalMemorySize() >> 20;
    long heapMib = Runtime.getRuntime().maxMemory() >> 20;
    String found = totalMib + " MiB, heap up to " + heapMib + " MiB";
    return totalMib >= MEMORY_NEEDED_MIB
        ? Finding.ok("memory", found)
        : Finding.warn(
            "memory", found, "the demo needs about " + MEMORY_NEEDED_MIB + " MiB: run fewer cores");
  }

  private static Finding unicorn() {
    try {
      LibraryLocator locator = LibraryLocator.ofThisProcess();
      LibraryLocator.Found found = locator.locate();
      String detail =
          "%s %s (%s)"
              .formatted(
                  found.path(), found.version(), found.source().name().toLowerCase(Locale.ROOT));
      return found
          .warning()
          .or(() -> unpinned(locator, found))
          .map(warning -> Finding.warn("libunicorn", detail, warning))
          .orElseGet(() -> Finding.ok("libunicorn", detail));
    } catch (UnicornLoadException e) {
      return Finding.missing("libunicorn", e.getMessage(), "deploy/setup.sh libunicorn");
    }
  }

  /**
   * A library that the user names, or the system's, may run; the user sees that it is not pinned.
   */
  private static Optional<String> unpinned(LibraryLocator locator, LibraryLocator.Found found) {
    return found.source() != LibraryLocator.Source.SYSTEM && locator.isPinned(found.path())
        ? Optional.empty()
        : Optional.of(
            "this is not the pinned library: trust it, or unset %s and -D%s and run deploy/setup.sh libunicorn"
                .formatted(LibraryLocator.ENVIRONMENT, LibraryLocator.PROPERTY));
  }

  private static Finding probe() {
    return NativeLibrary.find()
        .map(library -> Finding.ok("probe", "in C, compiled by " + library.compiler()))
        .orElseGet(
            () ->
                Finding.warn(
                    "probe",
                    "in Java, 5 to 9 times slower, and images need --isolate: "
                        + NativeLibrary.whyNot(),
                    NativeLibrary.CURE));
  }

  private static Finding loopback() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return Finding.ok("loopback", "port " + socket.getLocalPort() + " could be opened");
    } catch (IOException e) {
      return Finding.missing(
          "loopback",
          FileTrouble.words(e),
          "allow listening on 127.0.0.1: broker and pipeline need it");
    }
  }

  private static Finding folder(String subject, Path folder, String cure) {
    Path present = folder;
    while (!Files.exists(present)) {
      present = present.getParent();
    }
    long freeMib = present.toFile().getUsableSpace() >> 20;
    String found = folder + ", " + freeMib + " MiB free";
    if (!Files.isWritable(present)) {
      return Finding.warn(subject, folder + " is not writable", cure);
    }
    return freeMib >= DISK_NEEDED_MIB
        ? Finding.ok(subject, found)
        : Finding.warn(subject, found, "free some space: a trace of a fleet takes hundreds of MiB");
  }

  private Path cache() {
    String base = terminal.variable("XDG_CACHE_HOME");
    return base == null
        ? Path.of(System.getProperty("user.home"), ".cache", "retstack")
        : Path.of(base, "retstack");
  }

  private Finding maven() {
    Path fetched = Path.of(System.getProperty("user.home"), ".m2", "wrapper", "dists");
    if (Files.isDirectory(fetched)) {
      return Finding.ok("maven", "wrapper, fetched to " + fetched);
    }
    Path system = inPath("mvn");
    return system == null
        ? Finding.warn(
            "maven",
            "neither fetched by the wrapper nor in PATH",
            "./mvnw -v fetches it; only for builds")
        : Finding.ok("maven", system.toString());
  }

  /** What the set-up would install; nothing is known of it where there is no checkout. */
  private static List<Finding> packages() {
    Path setup = Path.of(System.getProperty("retstack.root", ""), "deploy", "setup.sh");
    if (!Files.isExecutable(setup)) {
      return List.of();
    }
    try {
      Process process =
          new ProcessBuilder(setup.toString(), "missing")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      List<Finding> missing =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .map(line -> line.split(": ", 2))
              .map(
                  parts ->
                      Finding.warn(
                          parts[0].replaceFirst(" .*", ""),
                          "not installed: " + parts[1],
                          "apt-get install --no-install-recommends " + parts[0]))
              .toList();
      return missing.isEmpty()
          ? List.of(Finding.ok("packages", "all that verbs and tests use"))
          : missing;
    } catch (IOException e) {
      return List.of(Finding.warn("packages", FileTrouble.words(e), "look at " + setup));
    }
  }

  private Path inPath(String command) {
    String path = terminal.variable("PATH");
    if (path == null) {
      return null;
    }
    for (String folder : path.split(File.pathSeparator, -1)) {
      Path candidate = Path.of(folder, command);
      if (Files.isExecutable(candidate)) {
        return candidate;
      }
    }
    return null;
  }
}
