package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.command.ExitCode;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A program of a user's own: static Linux, built with the flags that the capability table names.
 */
class UserProgramTest {
  private static final String SOURCE =
      """
      #include <stdio.h>
      #include <stdlib.h>
      static int __attribute__((noinline)) odd(int n);
      static int __attribute__((noinline)) even(int n) { return n == 0 ? 1 : odd(n - 1) + 0 * n; }
      static int __attribute__((noinline)) odd(int n) { return n == 0 ? 0 : even(n - 1) + 0 * n; }
      static int __attribute__((noinline)) compare(const void *a, const void *b) {
        return *(const int *)a - *(const int *)b;
      }
      int main(int argc, char **argv) {
        int values[] = {3, 1, 2};
        char line[64];
        qsort(values, 3, sizeof values[0], compare);
        if (fgets(line, sizeof line, stdin) == 0) return 9;
        printf("%s %s %d %d%d%d %s", argv[0] ? "argv" : "none", argv[1], even(argc + 5),
               values[0], values[1], values[2], line);
        return getenv("MODE") ? 0 : 8;
      }
      """;

  @TempDir private Path dir;

  @ParameterizedTest
  @CsvSource({
    "gcc, -pg -mfentry",
    "gcc, -pg",
    "aarch64-linux-gnu-gcc, -pg",
    "riscv64-linux-gnu-gcc, -pg -fno-omit-frame-pointer"
  })
  void staticLinuxProgramRunsAndIsTraced(String compiler, String flags) throws Exception {
    Path program = compile(compiler, flags + " -O1 -fno-optimize-sibling-calls -static", SOURCE);
    Path stdin = Files.writeString(dir.resolve("stdin.txt"), "from stdin\n");
    Path trace = dir.resolve("user.avro");
    Ran ran =
        Ran.well(
            "record",
            "--image",
            program.toString(),
            "-o",
            trace.toString(),
            "--env",
            "MODE=on",
            "--stdin",
            stdin.toString(),
            "--",
            "first");
    assertThat(ran.err()).doesNotContain("exit code").doesNotContain("FAULTED");
    assertThat(ran.out()).isEqualTo("argv first 0 123 from stdin\n");

    JsonNode report =
        new ObjectMapper()
            .readTree(Ran.retstack("report", trace.toString(), "--format", "json").out());
    Map<String, Long> calls = new HashMap<>();
    report
        .get("functions")
        .forEach(f -> calls.put(f.get("name").asText(), f.get("calls").asLong()));
    assertThat(calls).containsEntry("main", 1L).containsEntry("even", 4L).containsEntry("odd", 4L);
    assertThat(calls.get("compare")).isBetween(2L, 3L);
  }

  private static final String STARTS_OTHERS =
      """
      #include <errno.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <sys/wait.h>
      #include <unistd.h>
      int main(void) {
        printf("fork %d", fork());
        printf(" %d", errno == ENOSYS);
        printf(" wait %d", wait(0));
        printf(" %d", errno == ECHILD);
        printf(" system %d", WEXITSTATUS(system("true")));
        printf(" %d", errno == ENOSYS);
        printf(" exec %d", execl("/bin/true", "true", (char *)0));
        printf(" %d\\n", errno == ENOSYS);
        return 0;
      }
      """;

  @ParameterizedTest
  @CsvSource({"gcc", "aarch64-linux-gnu-gcc", "s390x-linux-gnu-gcc"})
  void aProgramThatStartsOthersIsToldThatItCannot(String compiler) throws Exception {
    Path program = compile(compiler, "-pg -O1 -static", STARTS_OTHERS);
    String trace = dir.resolve("others.avro").toString();

    Ran ran = Ran.well("record", "--image", program.toString(), "-o", trace);
    assertThat(ran.out()).isEqualTo("fork -1 1 wait -1 1 system 127 1 exec -1 1\n");
    String cure =
        " is not supported, ENOSYS 1 time: a core is one process; record the program that it"
            + " would start on a core of its own, with another --image";
    assertThat(ran.err())
        .contains("system call fork (clone)" + cure)
        .contains("system call vfork (clone")
        .contains("system call execve" + cure)
        .doesNotContain("wait4");
  }

  private static final String FORTY_THREADS =
      """
      #include <pthread.h>
      static pthread_barrier_t all;
      static void *work(void *n) { pthread_barrier_wait(&all); return n; }
      int main(void) {
        pthread_t threads[40];
        pthread_barrier_init(&all, 0, 41);
        for (int i = 0; i < 40; i++) pthread_create(&threads[i], 0, work, 0);
        pthread_barrier_wait(&all);
        for (int i = 0; i < 40; i++) pthread_join(threads[i], 0);
        return 0;
      }
      """;

  @Test
  void memoryThatIsRefusedIsNamedWithItsLimitAndTheCure() throws Exception {
    Path program = compile("gcc", "-pg -O1 -static -pthread", FORTY_THREADS);
    String trace = dir.resolve("forty.avro").toString();
    String limit = " in all: heap and mappings have a limit of 256.0 MiB; raise it with --memory";

    Ran ran = Ran.retstack("record", "--image", program.toString(), "-o", trace);
    assertThat(ran.code()).isEqualTo(ExitCode.FAULTED);
    assertThat(ran.err()).contains("deadlock").containsPattern("memory was refused .*" + limit);
    Ran cured = Ran.well("record", "--memory", "512M", "--image", program.toString(), "-o", trace);
    assertThat(cured.err()).doesNotContain("refused").doesNotContain("deadlock");
  }

  private static final String ASKS_FOR_FILES =
      """
      #include <fcntl.h>
      #include <stdio.h>
      #include <sys/stat.h>
      #include <unistd.h>
      int main(int argc, char **argv) {
        struct stat s;
        char name[64];
        access("/nowhere/by-access", R_OK);
        stat("/nowhere/by-stat", &s);
        open("/nowhere/null", O_RDONLY);
        open("/dev/null", O_RDONLY);
        for (int i = 0; i < 1000; i++) {
          sprintf(name, "/nowhere/by-open-%d", i);
          open(name, O_RDONLY);
        }
        return argc - 1;
      }
      """;

  @Test
  void filesThatAFailedProgramDidNotFindAreNamed() throws Exception {
    Path program = compile("gcc", "-pg -O1 -static", ASKS_FOR_FILES);
    String trace = dir.resolve("files.avro").toString();
    String[] well = {"record", "--image", program.toString(), "-o", trace};

    assertThat(Ran.well(well).err()).doesNotContain("in vain");
    String[] failing = Stream.concat(Stream.of(well), Stream.of("--", "1")).toArray(String[]::new);
    assertThat(Ran.retstack(failing).err())
        .contains(
            "asked in vain for /nowhere/by-access, /nowhere/by-stat, /nowhere/by-open-0,"
                + " /nowhere/by-open-1, /nowhere/by-open-2 and 997 more: it sees only files below"
                + " --readable and --writable");
  }

  private static final String WRITES =
      """
      #include <stdio.h>
      int main(int argc, char **argv) {
        FILE *file = fopen(argv[1], "w");
        if (file == 0) return 7;
        fputs("written", file);
        return fclose(file) ? 8 : 0;
      }
      """;

  @Test
  void filesAreWrittenInAFolderThatIsWritable() throws Exception {
    Path program = compile("gcc", "-pg -O1 -static", WRITES);
    Path folder = Files.createDirectory(dir.resolve("mine"));
    Path file = folder.resolve("text");
    String[] words = {
      "record",
      "--image",
      program.toString(),
      "-o",
      dir.resolve("written.avro").toString(),
      "--readable=" + folder,
      "--",
      file.toString()
    };

    Ran refused = Ran.retstack(words);
    assertThat(refused.err()).contains("exited with code 7");
    assertThat(file).doesNotExist();

    words[5] = "--writable=" + folder;
    Ran.well(words);
    assertThat(file).hasContent("written");
  }

  @Test
  void programWithoutCallSitesIsToldHowToCompile() throws Exception {
    Path program = compile("gcc", "-O1 -static", SOURCE);
    Ran ran =
        Ran.retstack(
            "record", "--image", program.toString(), "-o", dir.resolve("t.avro").toString());
    assertThat(ran.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(ran.err()).contains("user.elf").contains("-pg");
  }

  private Path compile(String compiler, String flags, String text) throws Exception {
    assumeTrue(inPath(compiler), compiler + " is not installed");
    Path source = Files.writeString(dir.resolve("user.c"), text);
    Path program = dir.resolve("user.elf");
    List<String> command = new ArrayList<>(List.of(compiler));
    command.addAll(List.of(flags.split(" ", -1)));
    command.addAll(List.of("-o", program.toString(), source.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assumeTrue(process.waitFor() == 0, compiler + " cannot link statically: " + said);
    return program;
  }

  private static boolean inPath(String command) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, command)));
  }
}
