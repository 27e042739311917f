package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.CoreEnd;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Static programs of glibc and musl, traced, do what they do under Linux: natively or under
 * qemu-user.
 */
final class LinuxProgramsTest {
  private static final long SLICE = 1_000_000;
  private static final Map<String, String> ENVIRONMENT = Map.of("GREETING", "hei");

  private static final List<String> FLAGS =
      List.of(
          "-c", "-O2", "-pg", "-fno-pie", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls");

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(GuestCompiler.class)
  void greetingWithArgumentsAndEnvironment(GuestCompiler compiler) throws Exception {
    Path program = build(compiler, userland("hello.c"));

    HostedRun run = likeLinux(compiler, program, List.of("prog", "a", "bcd", "ef"), "");

    assertThat(run.result().ending().exitCode()).isEqualTo(6);
    assertThat(run.calls())
        .isEqualTo(Map.of("main", 1, "make_entry", 3, "print_entry", 3, "drop_entry", 3));
  }

  @ParameterizedTest
  @EnumSource(GuestCompiler.class)
  void linesOfInputAreSorted(GuestCompiler compiler) throws Exception {
    Path program = build(compiler, userland("sortlines.c"));

    HostedRun run = likeLinux(compiler, program, List.of("prog"), "b\nc\na\n");

    assertThat(run.stdout()).isEqualTo("a\nb\nc\n");
    assertThat(run.calls()).containsEntry("by_text", 3);
  }

  @ParameterizedTest
  @EnumSource(GuestCompiler.class)
  void longjmpOfTheCLibrary(GuestCompiler compiler) throws Exception {
    Path program = build(compiler, userland("recover.c"));

    HostedRun run = likeLinux(compiler, program, List.of("prog", "7", "/", "0"), "");

    assertThat(run.stdout()).isEqualTo("recovered: division by zero\n");
    assertThat(run.calls()).containsEntry("give_up", 1).containsEntry("report", 1);
  }

  @ParameterizedTest
  @EnumSource(GuestCompiler.class)
  void systemCallsOfTheCLibrary(GuestCompiler compiler) throws Exception {
    Path program = build(compiler, resource("calls.c"));

    HostedRun run = likeLinux(compiler, program, List.of("prog", "last"), "one\ntwo\n");

    assertThat(run.result().ending().exitCode()).isEqualTo(42);
    assertThat(run.stdout()).contains("break 0", "time 0", "pages 0", "files 0", "> two");
    assertThat(run.result().unsupported()).isEqualTo(Map.of("number 4000", 1L));
  }

  @ParameterizedTest
  @EnumSource(GuestCompiler.class)
  void runsAreAlikeWhateverTheSlice(GuestCompiler compiler) throws Exception {
    Path program = build(compiler, userland("sortlines.c"));
    StringBuilder input = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      input.append(i * 7919 % 1000).append('\n');
    }

    HostedRun one = run(program, List.of("prog"), input.toString(), SLICE);
    HostedRun two = run(program, List.of("prog"), input.toString(), 997);

    assertThat(two.records()).isEqualTo(one.records()).hasSizeGreaterThan(1000);
    assertThat(two.result().instructions()).isEqualTo(one.result().instructions());
    assertThat(two.stdout()).isEqualTo(one.stdout());
  }

  @ParameterizedTest
  @EnumSource(GuestCompiler.class)
  void programsThatEndBadlySaySo(GuestCompiler compiler) throws Exception {
    Path program = build(compiler, resource("ends.c"));

    HostedRun aborted = run(program, List.of("prog", "abort"), "", SLICE);
    HostedRun wild = run(program, List.of("prog", "wild"), "", SLICE);

    assertThat(aborted.stdout()).isEqualTo("before\n");
    assertThat(aborted.result().ending().end()).isEqualTo(CoreEnd.FAULTED);
    assertThat(aborted.result().ending().detail())
        .isEqualTo("killed by signal 6: the program sent itself SIGABRT");
    assertThat(wild.stdout()).isEqualTo("before\n");
    assertThat(wild.result().ending().end()).isEqualTo(CoreEnd.FAULTED);
    assertThat(wild.result().ending().detail()).contains("123456789000", "wild+0x");
  }

  @Test
  void programOfMuslWithItsOwnCountingFunction() throws Exception {
    String musl = "musl-gcc";
    Assumptions.assumeTrue(GuestCompiler.installed(musl), "skipped: no " + musl);
    // musl has no counting function: the user brings one, compiled without -pg.
    Path counting = Files.writeString(folder.resolve("counting.c"), "void mcount(void) {}\n");
    Path plain = GuestCompiler.compileWith(musl, folder.resolve("p.o"), "-c", counting.toString());
    Path object = folder.resolve("calls.o");
    List<String> flags = new ArrayList<>(FLAGS);
    flags.add(resource("calls.c").toString());
    GuestCompiler.compileWith(musl, object, flags.toArray(String[]::new));
    Path program =
        GuestCompiler.compileWith(
            musl,
            folder.resolve("calls"),
            "-static",
            "-no-pie",
            object.toString(),
            plain.toString());

    HostedRun run = likeLinux(GuestCompiler.X86_64, program, List.of("prog", "last"), "one\ntwo\n");

    assertThat(run.calls()).containsEntry("heap", 2).containsEntry("main", 1);
    assertThat(run.result().unsupported()).isEqualTo(Map.of("number 4000", 1L));
  }

  @ParameterizedTest
  @EnumSource(names = {"X86_64", "AARCH64"}) // glibc has no static PIE start for riscv64
  void staticPieRelocatesItself(GuestCompiler compiler) throws Exception {
    compiler.assumeInstalled();
    Path object = folder.resolve("hello.o");
    String source = userland("hello.c").toString();
    compiler.compile(object, "-c", "-O2", "-pg", "-fPIE", "-fno-omit-frame-pointer", source);
    Path program = compiler.compile(folder.resolve("hello"), "-static-pie", object.toString());

    HostedRun run = likeLinux(compiler, program, List.of("prog", "pie"), "");

    assertThat(run.stdout()).startsWith("hei from userland\npie");
    assertThat(run.calls()).containsEntry("print_entry", 1);
  }

  /** Runs a program here and under Linux: both must tell the same. */
  private HostedRun likeLinux(
      GuestCompiler compiler, Path program, List<String> arguments, String input)
      throws IOException, InterruptedException {
    HostedRun run = run(program, arguments, input, SLICE);
    List<String> command = new ArrayList<>();
    if (compiler != GuestCompiler.X86_64) {
      String qemu = "qemu-" + compiler.isa();
      Assumptions.assumeTrue(GuestCompiler.installed(qemu), "skipped: no " + qemu);
      command.add(qemu);
    }
    command.add(program.toString());
    command.addAll(arguments.subList(1, arguments.size()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.environment().putAll(ENVIRONMENT);
    builder.directory(folder.toFile());
    Process process = builder.start();
    try (var stdin = process.getOutputStream()) {
      stdin.write(input.getBytes(StandardCharsets.UTF_8));
    }
    String stdout = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String stderr = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(run.result().ending().end())
        .as(run.result().ending().detail())
        .isEqualTo(CoreEnd.HALTED);
    assertThat(run.stdout()).isEqualTo(stdout);
    assertThat(run.stderr()).isEqualTo(stderr);
    assertThat(run.result().ending().exitCode()).isEqualTo(process.waitFor());
    return run;
  }

  private static HostedRun run(Path program, List<String> arguments, String input, long slice)
      throws IOException, InterruptedException {
    return HostedRun.of(program, arguments, ENVIRONMENT, input, slice);
  }

  /** Compiled with -pg, linked without it. */
  private Path build(GuestCompiler compiler, Path source) throws IOException, InterruptedException {
    compiler.assumeInstalled();
    String name = source.getFileName().toString().replace(".c", "-" + compiler.isa());
    Path object = folder.resolve(name + ".o");
    List<String> flags = new ArrayList<>(FLAGS);
    flags.add(source.toString());
    compiler.compile(object, flags.toArray(String[]::new));
    return compiler.compile(folder.resolve(name), "-static", "-no-pie", object.toString());
  }

  private static Path userland(String file) {
    return Path.of(System.getProperty("retstack.root"), "emulators", "guest", "userland", file);
  }

  private Path resource(String file) throws IOException {
    Path copy = folder.resolve(file);
    try (var bytes = LinuxProgramsTest.class.getResourceAsStream(file)) {
      Files.write(copy, bytes.readAllBytes());
    }
    return copy;
  }
}
