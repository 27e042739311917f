package dev.retstack.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.cli.house.Repository;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The classes under test for child processes: jars, and a class archive of them, with which a JVM
 * starts in half the time. The launcher makes the same for a user. An archive takes jars only, so
 * folders of classes become jars first. Both are made once for all test JVMs of a build.
 */
public final class ClassArchive {
  private static final Path FOLDER = Path.of("target", "archive").toAbsolutePath();
  private static final int TRAINING_SECONDS = 180;

  /** Flags of each JVM with these classes. */
  private static final List<String> FLAGS =
      List.of(
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-Dpicocli.disable.closures=true",
          "-Dretstack.root=" + Repository.root());

  private static List<String> made;

  private ClassArchive() {}

  /** The java of the tests with the classes under test: a command without its main class. */
  public static synchronized List<String> java(String... more) throws IOException {
    if (made == null) {
      made = make();
    }
    List<String> command = new ArrayList<>(made);
    command.addAll(1, List.of(more));
    return command;
  }

  private static List<String> make() throws IOException {
    Files.createDirectories(FOLDER);
    try (FileChannel channel =
            FileChannel.open(
                FOLDER.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = channel.lock()) {
      List<Path> entries =
          Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
              .map(Path::of)
              .filter(Files::exists)
              .toList();
      Path folder = Files.createDirectories(FOLDER.resolve(version(entries)));
      List<String> jars = new ArrayList<>();
      for (Path entry : entries) {
        boolean folderOfClasses = Files.isDirectory(entry);
        Path jar = folder.resolve(jars.size() + ".jar");
        if (folderOfClasses && !Files.exists(jar)) {
          pack(entry, jar);
        }
        jars.add((folderOfClasses ? jar : entry).toString());
      }
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(FLAGS);
      command.addAll(List.of("-cp", String.join(File.pathSeparator, jars)));
      Path archive = folder.resolve("classes.jsa");
      if (!Files.exists(archive)) {
        train(command, folder, archive);
      }
      command.addAll(
          1,
          List.of(
              "-XX:SharedArchiveFile=" + archive,
              "-Xlog:disable",
              "-Xlog:all=error,cds*=off,aot*=off:stderr"));
      return command;
    }
  }

  /** Changes with any file of the classes. */
  private static String version(List<Path> entries) throws IOException {
    CRC32 sum = new CRC32();
    for (Path entry : entries) {
      try (Stream<Path> files = Files.walk(entry)) {
        for (Path file : files.sorted().toList()) {
          sum.update((file + " " + Files.getLastModifiedTime(file).toMillis()).getBytes(UTF_8));
        }
      }
    }
    return Long.toHexString(sum.getValue());
  }

  private static void pack(Path classes, Path jar) throws IOException {
    Path unfinished = jar.resolveSibling(jar.getFileName() + ".new");
    try (OutputStream out = Files.newOutputStream(unfinished);
        ZipOutputStream zip = new ZipOutputStream(out);
        Stream<Path> files = Files.walk(classes)) {
      zip.setLevel(1);
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        zip.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
        Files.copy(file, zip);
      }
    }
    Files.move(unfinished, jar);
  }

  /** Without an archive all works the same, only slower: a failure is said and is no error. */
  private static void train(List<String> command, Path folder, Path archive) throws IOException {
    Path unfinished = folder.resolve("classes.jsa.new");
    Path log = folder.resolve("training.log");
    List<String> training = new ArrayList<>(command);
    training.addAll(1, List.of("-XX:ArchiveClassesAtExit=" + unfinished, "-Xmx512m"));
    training.addAll(
        List.of(
            ArchiveTraining.class.getName(),
            "all",
            Repository.root().resolve("schemas/golden/v1/trace.avro").toString(),
            folder.resolve("data").toString()));
    Process process =
        new ProcessBuilder(training).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (process.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS) && Files.exists(unfinished)) {
        Files.move(unfinished, archive);
      } else {
        System.out.println("no class archive: see " + log);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      process.destroyForcibly();
    }
  }
}
