package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What others need for the same program and the same calls, where they are installed: {@code
 * uftrace} records the natively compiled {@code w200} and reports on it, {@code qemu-x86_64}
 * emulates the image, untraced. CPU times of the processes, user and system.
 */
public final class PeerBench {
  /** A line of the shell's {@code times}: minutes and seconds, user then system. */
  private static final Pattern TIMES = Pattern.compile("(\\d+)m([\\d.]+)s\\s+(\\d+)m([\\d.]+)s");

  private static final int EVENTS_PER_CALL = 2;

  private final Path guest;
  private final Path folder;
  private final int rounds;
  private final Consumer<String> notes;

  /**
   * Measures in a separate folder.
   *
   * @param guest {@code emulators/guest} of a checkout
   * @param folder takes the program and what is recorded
   * @param notes hears what is left out and why
   */
  public PeerBench(Path guest, Path folder, int rounds, Consumer<String> notes) {
    this.guest = guest;
    this.folder = folder;
    this.rounds = rounds;
    this.notes = notes;
  }

  /**
   * Runs all that are here.
   *
   * @param w200 argument of the program
   * @param image the zoo's image for x86_64
   */
  public List<Measure> run(long w200, Path image) throws IOException, InterruptedException {
    long calls = calls(LoadedImage.load(image).requireCallSites(), w200);
    List<Measure> measures = new ArrayList<>();
    String argument = String.valueOf(w200);
    if (!have("gcc")) {
      notes.accept("peers: no gcc (Debian package gcc): uftrace is left out");
    } else if (!have("uftrace")) {
      notes.accept("peers: no uftrace (Debian package uftrace): left out");
    } else {
      compile("plain");
      compile("traced", "-pg");
      Rounds bare = new Rounds(rounds);
      Rounds record = new Rounds(rounds);
      Rounds report = new Rounds(rounds);
      for (int round = 0; round < rounds; round++) {
        delete(folder.resolve("uftrace.data"));
        bare.add(cpuSeconds("./plain", "w200", argument));
        record.add(
            cpuSeconds(
                "uftrace",
                "record",
                "--no-libcall",
                "-d",
                "uftrace.data",
                "./traced",
                "w200",
                argument));
        report.add(cpuSeconds("uftrace", "report", "-d", "uftrace.data"));
      }
      double events = (double) calls * EVENTS_PER_CALL;
      measures.add(peer("native w200", bare, "nsPerCall", 1e9 / calls));
      measures.add(peer("uftrace record w200", record, "cpuNsPerCall", 1e9 / calls));
      measures.add(peer("uftrace report w200", report, "cpuNsPerRecord", 1e9 / events));
      measures.add(
          new Measure(
              "peer",
              "uftrace record w200",
              "bytesPerRecord",
              size(folder.resolve("uftrace.data")) / events));
    }
    if (have("qemu-x86_64")) {
      Rounds emulated = new Rounds(rounds);
      for (int round = 0; round < rounds; round++) {
        emulated.add(
            cpuSeconds("qemu-x86_64", image.toAbsolutePath().toString(), "w200", argument));
      }
      measures.add(peer("qemu-x86_64 w200, untraced", emulated, "cpuNsPerCall", 1e9 / calls));
    } else {
      notes.accept("peers: no qemu-x86_64 (Debian package qemu-user): left out");
    }
    return measures;
  }

  /** How many calls the program makes, by our own count. */
  private static long calls(LoadedImage image, long w200) {
    List<String> argv = List.of("zoo", "w200", String.valueOf(w200));
    LongAdder records = new LongAdder();
    CoreOptions options = CoreOptions.of(LinuxOptions.of("zoo"));
    GuestRun.of(image, argv, options, _ -> {}, batch -> records.add(batch.size()));
    return records.sum() / EVENTS_PER_CALL;
  }

  private static Measure peer(String subject, Rounds seconds, String figure, double factor) {
    return new Measure("peer", subject, figure, seconds.median() * factor);
  }

  private void compile(String output, String... flags) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("gcc", "-std=gnu17", "-O2", "-fno-pie"));
    command.addAll(List.of("-no-pie", "-I", guest.resolve("runtime").toString()));
    command.addAll(List.of(flags));
    command.add(guest.resolve("programs/w200.c").toString());
    command.add(guest.resolve("tools/host.c").toString());
    command.addAll(List.of("-o", output));
    cpuSeconds(command.toArray(String[]::new));
  }

  /** Runs a command in the folder. Returns its CPU time as the shell reports it. */
  private double cpuSeconds(String... command) throws IOException, InterruptedException {
    List<String> shell = new ArrayList<>(List.of("sh", "-c", "\"$@\" >said 2>&1 || exit; times"));
    shell.add("sh");
    shell.addAll(List.of(command));
    Path times = folder.resolve("times");
    ProcessBuilder start = new ProcessBuilder(shell).directory(folder.toFile());
    Process process = start.redirectErrorStream(true).redirectOutput(times.toFile()).start();
    int code = process.waitFor();
    if (code != 0) {
      throw new IOException(
          "%s ended with %d: %s"
              .formatted(
                  String.join(" ", command),
                  code,
                  Files.readString(folder.resolve("said"), StandardCharsets.UTF_8).strip()));
    }
    Matcher line = TIMES.matcher(Files.readString(times, StandardCharsets.UTF_8));
    double seconds = 0;
    while (line.find()) { // the shell's, then its children's
      seconds += seconds(line, 1) + seconds(line, 3);
    }
    return seconds;
  }

  private static double seconds(Matcher line, int group) {
    return 60 * Double.parseDouble(line.group(group)) + Double.parseDouble(line.group(group + 1));
  }

  private static boolean have(String program) {
    return Pattern.compile(":")
        .splitAsStream(System.getenv().getOrDefault("PATH", ""))
        .anyMatch(bin -> Files.isExecutable(Path.of(bin, program)));
  }

  private static long size(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  private static void delete(Path tree) throws IOException {
    if (Files.exists(tree)) {
      try (Stream<Path> files = Files.walk(tree)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
