package dev.retstack.cli;

import dev.retstack.cli.house.Repository;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * How tests start JVMs with the classes under test: with a cache of what a JVM finds out of its
 * classes while it starts (JEP 483, 514), which spares each a third of that. The cache wants jars,
 * so the folders of classes are packed. Made once a build by whoever needs it first; without it, as
 * on a JVM that refuses it, all works the same, only slower.
 */
public final class QuickStart {
  /** The Java that runs the tests, small and quick to start, without a class path. */
  public static final List<String> JVM =
      List.of(
          Path.of(System.getProperty("java.home"), "bin", "java").toString(),
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-Dorg.apache.avro.SERIALIZABLE_PACKAGES=dev.retstack");

  private static final int TRAINING_SECONDS_MAX = 180;

  /** Warnings of a JVM that refuses a cache would be on standard output. */
  private static final List<String> SILENT =
      List.of("-Xlog:disable", "-Xlog:all=error,cds*=off,aot*=off:stderr");

  private QuickStart() {}

  private static final class Made {
    static final List<String> FLAGS = make();
  }

  /** Flags of a JVM of the serial collector: its class path, and the cache. */
  public static List<String> flags() {
    return Made.FLAGS;
  }

  private static List<String> make() {
    String path = System.getProperty("java.class.path");
    try {
      Path all = Repository.root().resolve("deploy/cli/target/quick-start");
      Path folder = Files.createDirectories(all.resolve(version(path)));
      try (FileChannel channel =
              FileChannel.open(
                  folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock _ = channel.lock()) {
        Path cache = folder.resolve("classes.aot");
        Path tried = folder.resolve("tried");
        if (!Files.exists(tried)) {
          train(packed(path, folder, true), folder, cache);
          Files.createFile(tried);
        }
        if (Files.exists(cache)) {
          List<String> flags = new ArrayList<>(SILENT);
          flags.addAll(List.of("-XX:AOTCache=" + cache, "-cp", packed(path, folder, false)));
          return List.copyOf(flags);
        }
      }
    } catch (IOException e) {
      System.out.println("processes of tests start without a cache of classes: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return List.of("-cp", path);
  }

  /** Another one for other classes. */
  private static String version(String path) throws IOException {
    long newest = 0;
    long count = 0;
    for (String part : path.split(File.pathSeparator, -1)) {
      try (Stream<Path> files = Files.walk(Path.of(part))) {
        for (Path file : (Iterable<Path>) files::iterator) {
          newest = Math.max(newest, Files.getLastModifiedTime(file).toMillis());
          count++;
        }
      }
    }
    return "%x-%x-%x".formatted(path.hashCode(), newest, count);
  }

  /** The class path with jars in the places of folders. */
  private static String packed(String path, Path folder, boolean pack) throws IOException {
    List<String> parts = new ArrayList<>();
    for (String part : path.split(File.pathSeparator, -1)) {
      if (!Files.isDirectory(Path.of(part))) {
        parts.add(part);
        continue;
      }
      Path jar = folder.resolve(Path.of(part).getFileName() + ".jar");
      if (pack) {
        int code =
            ToolProvider.findFirst("jar")
                .orElseThrow(() -> new IOException("no tool jar"))
                .run(System.out, System.err, "-cf", jar.toString(), "-C", part, ".");
        if (code != 0) {
          throw new IOException("jar %s: exit %d".formatted(part, code));
        }
      }
      parts.add(jar.toString());
    }
    return String.join(File.pathSeparator, parts);
  }

  private static void train(String path, Path folder, Path cache)
      throws IOException, InterruptedException {
    Path made = folder.resolve("classes.new");
    List<String> command = new ArrayList<>(JVM);
    command.addAll(List.of("-XX:AOTCacheOutput=" + made, "-cp", path));
    command.addAll(List.of(QuickStartTraining.class.getName(), folder.resolve("run").toString()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("training.log").toFile())
            .start();
    try {
      if (process.waitFor(TRAINING_SECONDS_MAX, TimeUnit.SECONDS)
          && process.exitValue() == 0
          && Files.exists(made)) {
        Files.move(made, cache, StandardCopyOption.ATOMIC_MOVE);
      }
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
