package dev.retstack.fleet.loader.elf;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.retstack.fleet.isolate.MutantRunner;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.SiteFinder;
import dev.retstack.machine.loader.elf.ElfBuilder;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.ElfMutator;
import dev.retstack.machine.loader.elf.Segment;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.machine.testing.Images;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mutants of every committed image and of some objects: each is refused by an {@link
 * ElfFormatException} that names file, field, value and cure, or is good: it parses to something
 * consistent. Any other exception, a hang, an allocation out of proportion or the death of the JVM
 * is a defect.
 *
 * <p>{@code -Dretstack.fuzz.elf=SECONDS} runs for so long, and runs a slice of some of the good
 * ones too. Hostile code can bring down the emulator (which is what {@code --isolate} is for), so
 * they run in a {@link MutantRunner}, whose deaths by a signal are told and counted but are no
 * defect. {@code -Dretstack.seed=S} repeats a run, {@code -Dretstack.fuzz.first=N} begins at its
 * Nth mutant; after the death of the JVM {@code target/elf-fuzz.last} holds both numbers,
 * big-endian.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ElfFuzzTest {
  private static final int SECONDS = Integer.getInteger("retstack.fuzz.elf", 0);
  private static final int MUTANTS = 6_000;
  private static final long ALLOCATION_MAX = 64L << 20;
  private static final long NANOS_MAX = TimeUnit.SECONDS.toNanos(60);

  /** One in so many mutants is loaded and run too, which costs more than parsing. */
  private static final int RUN_OF = 64;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final long seed = Seeds.fresh();
  private final ByteBuffer last = ByteBuffer.allocate(16);
  private final MutantRunner runner = new MutantRunner();
  @TempDir private Path folder;
  private int refused;
  private int parsed;
  private int run;
  private int deaths;

  @Test
  void mutantsRunOrAreRefused() throws Exception {
    long first = Long.getLong("retstack.fuzz.first", 0);
    long start = System.nanoTime();
    long stop = start + TimeUnit.SECONDS.toNanos(SECONDS);
    List<ElfMutator> images = new ArrayList<>();
    for (Path image : Images.all()) {
      images.add(new ElfMutator(Files.readAllBytes(image)));
    }
    images.add(
        new ElfMutator(
            ElfBuilder.elf64()
                .symbol("f", ElfBuilder.CODE_ADDRESS, 16, 0x12)
                .symbol("g", ElfBuilder.CODE_ADDRESS + 16, 16, 0x22)
                .mcountLoc(ElfBuilder.CODE_ADDRESS + 8)
                .build()));
    addObjects(images);
    addDynamic(images);
    System.out.println("ElfFuzzTest: seed " + seed);
    long index = first;
    try (FileChannel note = note();
        runner) {
      while (SECONDS > 0 ? System.nanoTime() < stop : index < first + MUTANTS) {
        note.write(last.clear().putLong(seed).putLong(index).flip(), 0);
        // each mutant has chance of its own, so that any one can be made again
        SplittableRandom random = new SplittableRandom(seed + index * 0x9E37_79B9_7F4A_7C15L);
        byte[] mutant = images.get(random.nextInt(images.size())).mutant(random);
        tryMutant(mutant, index++);
      }
    }
    System.out.printf(
        "ElfFuzzTest: seed %d, %,d mutants in %s: %,d refused, %,d parsed; %,d run, of which %,d"
            + " killed the emulator%n",
        seed,
        index - first,
        Duration.ofNanos(System.nanoTime() - start).truncatedTo(ChronoUnit.SECONDS),
        refused,
        parsed,
        run,
        deaths);
    assertThat(run > 0).as("mutants run, seed %d", seed).isEqualTo(SECONDS > 0);
    assertThat(refused).as("refused, seed %d", seed).isGreaterThan((int) (index - first) / 20);
    assertThat(parsed).as("parsed, seed %d", seed).isGreaterThan((int) (index - first) / 20);
  }

  /** Of a table and of calls, REL and RELA, both byte orders: as far as compilers are installed. */
  private void addObjects(List<ElfMutator> images) throws Exception {
    String[][] compilers = {
      {"x86_64-linux-gnu-gcc", "-pg", "-mfentry", "-mrecord-mcount", "-fno-pie"},
      {"x86_64-linux-gnu-gcc", "-fpatchable-function-entry=5"},
      {"arm-linux-gnueabihf-gcc", "-pg", "-marm"},
      {"powerpc64-linux-gnu-gcc", "-pg"},
      {"mips64-linux-gnuabi64-gcc", "-pg", "-mno-abicalls", "-fno-pic"},
    };
    Path source =
        Files.writeString(
            folder.resolve("f.c"), "int f(int x) { return x; } int g(void) { return f(1); }");
    for (String[] compiler : compilers) {
      if (GuestCompiler.installed(compiler[0])) {
        List<String> flags = new ArrayList<>(List.of(compiler).subList(1, compiler.length));
        flags.addAll(List.of("-c", source.toString()));
        Path object = folder.resolve("f.o");
        GuestCompiler.compileWith(compiler[0], object, flags.toArray(String[]::new));
        images.add(new ElfMutator(Files.readAllBytes(object)));
      }
    }
  }

  /** With an interpreter, and tables of what other files define. */
  private void addDynamic(List<ElfMutator> images) throws Exception {
    String[][] compilers = {
      {"x86_64-linux-gnu-gcc", "-pg"},
      {"x86_64-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"},
      {"aarch64-linux-gnu-gcc", "-pg"},
      {"riscv64-linux-gnu-gcc", "-pg"},
    };
    Path source = Files.writeString(folder.resolve("d.c"), "int main(void) { return 0; }");
    for (String[] compiler : compilers) {
      if (GuestCompiler.installed(compiler[0])) {
        List<String> flags = new ArrayList<>(List.of(compiler).subList(1, compiler.length));
        flags.add(source.toString());
        Path program = folder.resolve("d");
        GuestCompiler.compileWith(compiler[0], program, flags.toArray(String[]::new));
        images.add(new ElfMutator(Files.readAllBytes(program)));
      }
    }
  }

  private static FileChannel note() throws IOException {
    return FileChannel.open(
        Files.createDirectories(Path.of("target")).resolve("elf-fuzz.last"),
        StandardOpenOption.CREATE,
        StandardOpenOption.WRITE);
  }

  private void tryMutant(byte[] mutant, long index) throws IOException, InterruptedException {
    boolean good = false;
    long before = threads.getCurrentThreadAllocatedBytes();
    long start = System.nanoTime();
    try {
      use(ElfFile.parseUnlinked(mutant, "mutant.elf"));
      parsed++;
      good = true;
    } catch (ElfFormatException e) {
      assertThat(e.getMessage()).startsWith("mutant.elf: ").contains(", allowed: ", "; ");
      refused++;
    } catch (RuntimeException | Error e) {
      throw new AssertionError("seed " + seed + ", mutant " + index, e);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated)
        .as("bytes allocated, seed %d, mutant %d", seed, index)
        .isLessThan(Math.max(4L * mutant.length, ALLOCATION_MAX));
    assertThat(System.nanoTime() - start)
        .as("nanoseconds taken, seed %d, mutant %d", seed, index)
        .isLessThan(NANOS_MAX);
    if (good && SECONDS > 0 && index % RUN_OF == 0) {
      runMutant(mutant, index);
    }
  }

  private void runMutant(byte[] mutant, long index) throws IOException, InterruptedException {
    MutantRunner.Outcome outcome = runner.run(mutant);
    switch (outcome.kind()) {
      case RUN -> run++;
      case REFUSED -> {}
      case DIED -> {
        run++;
        deaths++;
        System.out.printf(
            "ElfFuzzTest: seed %d, mutant %d killed the emulator: %s%n",
            seed, index, outcome.reason());
      }
      case DEFECT ->
          throw new AssertionError(
              "seed %d, mutant %d: %s".formatted(seed, index, outcome.reason()));
    }
  }

  /** What any user of a parsed file relies on. */
  private static void use(ElfFile elf) throws ElfFormatException {
    assertThat(elf.executableAt(elf.entry())).isTrue();
    long memory = 0;
    for (int i = 0; i < elf.segments().size(); i++) {
      Segment s = elf.segments().get(i);
      memory += s.memoryBytes();
      assertThat(s.data().capacity()).isLessThanOrEqualTo((int) Math.min(s.memoryBytes(), 1 << 30));
      if (i > 0) {
        long end = elf.segments().get(i - 1).end();
        assertThat(Long.compareUnsigned(end, s.address())).isLessThanOrEqualTo(0);
      }
    }
    assertThat(memory).isBetween(1L, ElfFile.Limits.DEFAULT.memoryBytesMax());
    Symbol before = null;
    for (Symbol f : elf.functions()) {
      if (before != null) {
        long distance = f.address() - before.address();
        assertThat(distance).isNotZero();
        assertThat(Long.compareUnsigned(before.size(), distance)).isLessThanOrEqualTo(0);
        assertThat(Long.compareUnsigned(before.address(), f.address())).isNegative();
      }
      assertThat(elf.functionAt(f.address())).contains(f);
      before = f;
    }
    elf.code().forEach(c -> assertThat(c.bytes().capacity()).isGreaterThanOrEqualTo(0));
    assertThat(elf.mcountLoc()).isSorted();
    assertThat(elf.buildId()).isNotEmpty();
    elf.programHeadersAddress();
    if (elf.relocatable() || elf.interpreter().isPresent()) {
      SiteFinder.find(LoadedImage.of(elf));
    }
    elf.memory(elf.entry(), 4);
  }
}
