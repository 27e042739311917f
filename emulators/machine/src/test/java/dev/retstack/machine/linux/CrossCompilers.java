package dev.retstack.machine.linux;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * A C compiler for each table of system calls and each layout of {@code stat}, by which the
 * kernel's headers can be asked.
 */
enum CrossCompilers {
  X86_64("x86_64", "x86_64-linux-gnu-gcc"),
  I386("i386", "x86_64-linux-gnu-gcc", "-m32", "-I/usr/include/x86_64-linux-gnu"),
  AARCH64("aarch64", "aarch64-linux-gnu-gcc"),
  RISCV32("riscv32", "riscv64-linux-gnu-gcc", "-march=rv32gc", "-mabi=ilp32d"),
  ARM("arm", "arm-linux-gnueabihf-gcc"),
  PPC32("ppc32", "powerpc-linux-gnu-gcc"),
  PPC64("ppc64", "powerpc64-linux-gnu-gcc"),
  S390X("s390x", "s390x-linux-gnu-gcc"),
  MIPS("mips", "mips-linux-gnu-gcc"),
  MIPS64("mips64", "mips64-linux-gnuabi64-gcc"),
  M68K("m68k", "m68k-linux-gnu-gcc"),
  SPARC("sparc", "sparc64-linux-gnu-gcc", "-m32");

  final Isa isa;
  private final List<String> command;

  CrossCompilers(String isa, String... command) {
    this.isa = Isas.find(isa).orElseThrow();
    this.command = List.of(command);
  }

  /** Lines of a source that the preprocessor leaves; skips the test where it is not installed. */
  List<String> preprocess(Path folder, String source) throws IOException, InterruptedException {
    return run(folder, source, "-E", "-P");
  }

  /** Lines of the assembly text of a source; skips the test where it is not installed. */
  List<String> assembly(Path folder, String source) throws IOException, InterruptedException {
    return run(folder, source, "-S");
  }

  /** A compiler may be installed without the C library of its ISA, which brings them. */
  private boolean hasHeaders() throws IOException, InterruptedException {
    List<String> line = new ArrayList<>(command);
    line.addAll(List.of("-E", "-include", "asm/unistd.h", "-x", "c", "/dev/null"));
    return new ProcessBuilder(line)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor()
        == 0;
  }

  private List<String> run(Path folder, String source, String... how)
      throws IOException, InterruptedException {
    String compiler = command.getFirst();
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Assumptions.assumeTrue(hasHeaders(), "skipped: " + compiler + " has no headers of the kernel");
    Path file = Files.writeString(folder.resolve(name() + ".c"), source);
    List<String> arguments = new ArrayList<>(command.subList(1, command.size()));
    arguments.addAll(List.of(how));
    arguments.add(file.toString());
    Path output = folder.resolve(name() + ".out");
    GuestCompiler.compileWith(compiler, output, arguments.toArray(String[]::new));
    return Files.readAllLines(output);
  }
}
