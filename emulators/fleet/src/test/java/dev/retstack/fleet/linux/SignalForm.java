package dev.retstack.fleet.linux;

import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Ways to compile and link programs with signals, and to run them elsewhere. Places in a folder of
 * a 64-bit machine are no numbers of 32 bits, which qemu-arm hands to programs: so these use the
 * larger ones.
 */
enum SignalForm {
  X86_64("x86_64-linux-gnu-gcc", "", "-pg"),
  X86_64_FENTRY("x86_64-linux-gnu-gcc", "", "-pg", "-mfentry"),
  X86_64_STATIC("x86_64-linux-gnu-gcc", "", "-pg", "-static"),
  I386("x86_64-linux-gnu-gcc", "", "-m32", "-idirafter", "/usr/include/x86_64-linux-gnu", "-pg"),
  I386_STATIC(
      "x86_64-linux-gnu-gcc",
      "",
      "-m32",
      "-idirafter",
      "/usr/include/x86_64-linux-gnu",
      "-pg",
      "-static"),
  AARCH64("aarch64-linux-gnu-gcc", "qemu-aarch64 -L /usr/aarch64-linux-gnu", "-pg"),
  AARCH64_STATIC("aarch64-linux-gnu-gcc", "qemu-aarch64", "-pg", "-static"),
  RISCV64("riscv64-linux-gnu-gcc", "qemu-riscv64 -L /usr/riscv64-linux-gnu", "-pg"),
  RISCV64_STATIC("riscv64-linux-gnu-gcc", "qemu-riscv64", "-pg", "-static"),
  ARM(
      "arm-linux-gnueabihf-gcc",
      "qemu-arm -L /usr/arm-linux-gnueabihf",
      "-D_FILE_OFFSET_BITS=64",
      "-pg"),
  ARM_STATIC(
      "arm-linux-gnueabihf-gcc", "qemu-arm", "-D_FILE_OFFSET_BITS=64", "-marm", "-pg", "-static"),
  THUMB_STATIC(
      "arm-linux-gnueabihf-gcc", "qemu-arm", "-D_FILE_OFFSET_BITS=64", "-mthumb", "-pg", "-static"),
  S390X("s390x-linux-gnu-gcc", "qemu-s390x -L /usr/s390x-linux-gnu", "-pg"),
  S390X_STATIC("s390x-linux-gnu-gcc", "qemu-s390x", "-pg", "-static"),
  PPC64LE("powerpc64le-linux-gnu-gcc", "qemu-ppc64le -L /usr/powerpc64le-linux-gnu", "-pg"),
  PPC64LE_STATIC("powerpc64le-linux-gnu-gcc", "qemu-ppc64le", "-pg", "-static"),
  PPC64("powerpc64-linux-gnu-gcc", "qemu-ppc64 -L /usr/powerpc64-linux-gnu", "-pg"),
  PPC64_STATIC("powerpc64-linux-gnu-gcc", "qemu-ppc64", "-pg", "-static"),
  PPC32("powerpc-linux-gnu-gcc", "qemu-ppc -L /usr/powerpc-linux-gnu", "-pg"),
  PPC32_STATIC("powerpc-linux-gnu-gcc", "qemu-ppc", "-pg", "-static"),
  M68K("m68k-linux-gnu-gcc", "qemu-m68k -L /usr/m68k-linux-gnu", "-pg"),
  M68K_STATIC("m68k-linux-gnu-gcc", "qemu-m68k", "-pg", "-static"),
  MIPS("mips-linux-gnu-gcc", "qemu-mips -L /usr/mips-linux-gnu", "-pg"),
  MIPS_PIC_STATIC("mips-linux-gnu-gcc", "qemu-mips", "-pg", "-static"),
  MIPS_STATIC(
      "mips-linux-gnu-gcc",
      "qemu-mips",
      "-mno-abicalls",
      "-fno-pie",
      "-G0",
      "-pg",
      "-static",
      "-Wl,--no-warn-mismatch"),
  MIPS64("mips64-linux-gnuabi64-gcc", "qemu-mips64 -L /usr/mips64-linux-gnuabi64", "-pg"),
  MIPS64_STATIC("mips64-linux-gnuabi64-gcc", "qemu-mips64", "-pg", "-static"),
  MIPSEL("mipsel-linux-gnu-gcc", "qemu-mipsel -L /usr/mipsel-linux-gnu", "-pg"),
  MIPSEL_STATIC(
      "mipsel-linux-gnu-gcc",
      "qemu-mipsel",
      "-mno-abicalls",
      "-fno-pie",
      "-G0",
      "-pg",
      "-static",
      "-Wl,--no-warn-mismatch");

  /** One of each ISA, with shared objects or without. */
  static final List<SignalForm> OF_EACH_ISA =
      List.of(
          X86_64_FENTRY,
          I386_STATIC,
          AARCH64,
          RISCV64_STATIC,
          ARM,
          S390X_STATIC,
          PPC64LE,
          PPC64,
          PPC32,
          M68K_STATIC,
          MIPS_STATIC,
          MIPSEL,
          MIPS64);

  /** {@code -Dretstack.zoo=all} asks for all. */
  static Stream<SignalForm> some() {
    return EachIsa.compiled(
        List.of(values()), OF_EACH_ISA, List.of(X86_64_FENTRY, ARM, S390X_STATIC, PPC32_STATIC))
        .stream();
  }

  /** Those whose mutants are run; mips has an instruction set that others have not. */
  static Stream<SignalForm> mutated() {
    return EachIsa.COMPILED
        ? Stream.of(values()).filter(form -> form.name().endsWith("STATIC"))
        : Stream.of(X86_64_STATIC, ARM_STATIC, S390X_STATIC, PPC32_STATIC, MIPS_STATIC);
  }

  /**
   * One for each word size, byte order, alignment of 64-bit fields and table of system calls: for
   * what a kernel does in the same way for every ISA. {@code -Dretstack.zoo=all} asks for all.
   */
  static Stream<SignalForm> kinds() {
    return EachIsa.ALL
        ? threaded()
        : Stream.of(X86_64_FENTRY, I386_STATIC, AARCH64, ARM, S390X_STATIC, PPC32_STATIC);
  }

  /** Whose folders qemu-user 7.2 lists: it dies on those of ppc32, mips and mipsel. */
  static Stream<SignalForm> listing() {
    return kinds().filter(form -> !form.name().matches("(PPC32|MIPS|MIPSEL)(_.*)?"));
  }

  /** Of which qemu-user 7.2 says in a signalfd what the kernel would: it has another SI_TIMER. */
  static Stream<SignalForm> readingSignals() {
    return kinds().filter(form -> !form.name().startsWith("MIPS"));
  }

  /** Not m68k, which has no threads. */
  static Stream<SignalForm> threaded() {
    return some().filter(form -> form != M68K && form != M68K_STATIC);
  }

  /**
   * The C library's profiler, which -pg brings, ends while its timer runs. Under qemu-user its last
   * signal may come behind that, and kills the program, which has done all by then.
   */
  private static final int SIGPROF = 27;

  private final String compiler;
  private final String emulator;
  private final List<String> flags;

  SignalForm(String compiler, String emulator, String... flags) {
    this.compiler = compiler;
    this.emulator = emulator;
    this.flags = List.of(flags);
  }

  /**
   * The ISAs of C libraries that most programs are compiled for, with shared objects and without.
   */
  static Stream<SignalForm> common() {
    return EnumSet.range(X86_64, PPC64LE_STATIC).stream().filter(form -> form != THUMB_STATIC);
  }

  /**
   * Compiles a program of the resources, such as {@code signals/handlers.c}; skips where the
   * compiler is missing.
   */
  Path build(Path folder, String program, String... more) throws IOException, InterruptedException {
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path source = folder.resolve("prog.c");
    try (InputStream text =
        SignalForm.class.getResourceAsStream("/dev/retstack/fleet/" + program)) {
      Files.copy(text, source, StandardCopyOption.REPLACE_EXISTING);
    }
    List<String> words =
        new ArrayList<>(List.of("-O1", "-fno-omit-frame-pointer", source.toString()));
    words.addAll(List.of(more));
    return compile(folder.resolve("prog"), compiler, words);
  }

  /** Compiles any sources; skips where the compiler is missing. */
  Path compile(Path output, List<String> words, boolean cplusplus)
      throws IOException, InterruptedException {
    return compile(output, cplusplus ? cplusplus() : compiler, words);
  }

  /** Debian's g++-multilib cannot be installed beside cross compilers: so i386 has its own. */
  private String cplusplus() {
    return flags.contains("-m32") ? "i686-linux-gnu-g++" : compiler.replaceFirst("gcc$", "g++");
  }

  private Path compile(Path output, String by, List<String> words)
      throws IOException, InterruptedException {
    Assumptions.assumeTrue(GuestCompiler.installed(by), "skipped: no " + by);
    List<String> all = new ArrayList<>(List.of("-w", "-pthread"));
    all.addAll(flags);
    all.addAll(words);
    return GuestCompiler.compileWith(by, output, all.toArray(String[]::new));
  }

  /** The emulator of its programs, also for those that this machine runs. */
  List<String> qemu() {
    String native64 = flags.contains("-m32") ? "qemu-i386" : "qemu-x86_64";
    List<String> line = List.of((emulator.isEmpty() ? native64 : emulator).split(" "));
    Assumptions.assumeTrue(
        GuestCompiler.installed(line.getFirst()), "skipped: no " + line.getFirst());
    return line;
  }

  /** What a program prints on this machine, or under qemu-user; skips where that is missing. */
  String elsewhere(Path program) throws IOException, InterruptedException {
    List<String> line = new ArrayList<>();
    if (emulator.isEmpty()) {
      Assumptions.assumeTrue(
          System.getProperty("os.arch").equals("amd64"), "skipped: not an x86_64 machine");
      List<String> loader = List.of("/lib/ld-linux.so.2", "--version");
      Path folder = program.getParent();
      Assumptions.assumeTrue(
          !flags.contains("-m32") || run(loader, folder, folder.resolve("loader")) == 0,
          "skipped: this machine runs no programs of i386");
    } else {
      line.addAll(List.of(emulator.split(" ")));
      Assumptions.assumeTrue(
          GuestCompiler.installed(line.getFirst()), "skipped: no " + line.getFirst());
    }
    line.add(program.toString());
    Path folder = program.getParent();
    Path output = folder.resolve("output");
    int code = run(line, folder, output);
    for (int again = 0; code == 128 + SIGPROF && again < 5; again++) {
      code = run(line, folder, output);
    }
    return asLinux(Files.readString(output, StandardCharsets.UTF_8)) + "code " + code;
  }

  /**
   * What qemu-user 7.2 does not do as the kernel: on Power it says SEGV_MAPERR of memory that is
   * there ({@code do_page_fault}: SEGV_ACCERR). On MIPS it sends SIGTRAP for every trap and
   * breakpoint ({@code do_trap_or_bp}: SIGFPE for the codes 6 and 7), and its handler steps over; a
   * timer's signal does not have the kernel's {@code SI_TIMER} there, which is -3.
   */
  private String asLinux(String printed) {
    return switch (this) {
      case PPC64LE, PPC64LE_STATIC, PPC64, PPC64_STATIC, PPC32, PPC32_STATIC ->
          printed
              .replace("fault 1 1 1000", "fault 1 2 1000")
              .replace("1 at 101\n1 at 100\n", "2 at 101\n2 at 100\n");
      default -> isMips() ? asLinuxOnMips(printed) : printed;
    };
  }

  private static String asLinuxOnMips(String printed) {
    return printed
        .replace("divided 3 0\nentered 29", "divided 9 111212\nentered 22")
        .replace("create 0 0 1 0 0", "create 0 0 1 0 1");
  }

  boolean isMips() {
    return name().startsWith("MIPS");
  }

  /** What a core says, with the number that SIGSTOP has here. */
  String numbered(String end) {
    return isMips() ? end.replace("signal 19", "signal 23") : end;
  }

  private static int run(List<String> line, Path folder, Path output)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(line)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        throw new AssertionError(line + " did not end in 60 s");
      }
      return process.exitValue();
    } finally {
      process.destroyForcibly();
    }
  }
}
