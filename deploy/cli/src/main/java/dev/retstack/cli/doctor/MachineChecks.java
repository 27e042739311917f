package dev.retstack.cli.doctor;

import dev.retstack.cli.FileTrouble;
import dev.retstack.cli.Terminal;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What the machine offers: loopback, disk, Maven, compilers. */
final class MachineChecks {
  private static final long DISK_NEEDED_MIB = 1024;

  private final Terminal terminal;

  MachineChecks(Terminal terminal) {
    this.terminal = terminal;
  }

  List<Finding> run() {
    List<Finding> findings = new ArrayList<>();
    findings.add(loopback());
    findings.add(
        folder("working folder", Path.of("").toAbsolutePath(), "change to a folder of yours"));
    findings.add(folder("cache", cache(), "set XDG_CACHE_HOME to a folder of yours"));
    findings.add(maven());
    findings.add(compiler("gcc", "gcc"));
    findings.add(compiler("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"));
    findings.add(compiler("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"));
    return findings;
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

  private Finding compiler(String command, String debianPackage) {
    Path found = inPath(command);
    return found == null
        ? Finding.warn(
            command,
            "not in PATH",
            "only to compile programs of your own, and for some tests: apt-get install "
                + debianPackage)
        : Finding.ok(command, found.toString());
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
