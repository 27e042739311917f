package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.unicorn.testing.WithoutCompiler;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Straight code of thousands of instructions: no block is longer than the translators bear. In a
 * process of its own, since a longer one ends it: mips of any 360 instructions, x86, riscv and m68k
 * of some 450 such as those below.
 */
@Timeout(600)
class BlockBoundTest {
  private static final int MOST = 128;
  private static final int RANDOM = Integer.getInteger("retstack.blocks.random", 0);
  private static final int INSTRUCTIONS = RANDOM > 0 ? 100_000 : 20_000;
  private static final long CODE = 0x10_0000;
  private static final int CODE_BYTES = 0x10_0000;

  /**
   * Instructions of an engine, each in hex.
   *
   * @param runs do nothing, or store; they run to the end
   * @param translated need what is switched off here, so the first may fail: FP, coprocessors
   */
  private record Machine(
      String name, int arch, int mode, int model, List<String> runs, List<String> translated) {}

  private static final int BIG = UcConst.UC_MODE_BIG_ENDIAN;

  private static final List<Machine> MACHINES =
      List.of(
          // nop; mov %eax,%ecx; fld %st(3); pshufw; shufps; fsubr; cvttps2pi; extrq
          new Machine(
              "x86_64",
              UcConst.UC_ARCH_X86,
              UcConst.UC_MODE_64,
              -1,
              List.of("90", "89c1", "d9c3", "0f70d7fe", "0fc6f78c"),
              List.of("48ddd0", "f20f780580000000", "0f2084", "e4f0")),
          new Machine(
              "i386",
              UcConst.UC_ARCH_X86,
              UcConst.UC_MODE_32,
              -1,
              List.of("90", "89c1", "d9c3", "dac3", "d527"),
              List.of("660fcb", "f20f78c3e2b6", "0f205c")),
          // nop; str r0,[sp,#8]; vadd.f32 s0,s0,s0
          arm("arm", UcConst.UC_MODE_ARM, List.of("00f020e3", "08008de5"), List.of("000a30ee")),
          arm("thumb", UcConst.UC_MODE_THUMB, List.of("00bf", "8046"), List.of("30ee000a")),
          // nop; str x0,[sp,#8]; fadd d0,d0,d0
          new Machine(
              "aarch64",
              UcConst.UC_ARCH_ARM64,
              UcConst.UC_MODE_ARM,
              -1,
              List.of("1f2003d5", "e00700f9"),
              List.of("0028601e")),
          // nop; c.nop; addi a0,a0,1; c.fsdsp fs0,8(sp); c.fld; fadd.d
          riscv("riscv64", UcConst.UC_MODE_RISCV64),
          riscv("riscv32", UcConst.UC_MODE_RISCV32),
          // nop; addi 3,3,1; stw 3,8(1); fadd
          new Machine(
              "ppc32",
              UcConst.UC_ARCH_PPC,
              UcConst.UC_MODE_PPC32 | BIG,
              -1,
              List.of("60000000", "38630001", "90610008"),
              List.of("fc00002a")),
          // nopr; la %r1,1(%r1); adbr
          new Machine(
              "s390x",
              UcConst.UC_ARCH_S390X,
              BIG,
              -1,
              List.of("0700", "41101001"),
              List.of("b31a0000")),
          // nop; sw $0,-8($sp); add.s; ll; div; mips16: the same addresses, odd
          mips("mips", UcConst.UC_MODE_MIPS32, BIG, -1),
          mips("mipsel", UcConst.UC_MODE_MIPS32, 0, -1),
          mips("mips64", UcConst.UC_MODE_MIPS64, BIG, MipsConst.UC_CPU_MIPS64_MIPS64R2_GENERIC),
          // nop; not.w d2; move ccr,d1
          new Machine(
              "m68k",
              UcConst.UC_ARCH_M68K,
              BIG,
              M68kConst.UC_CPU_M68K_M68040,
              List.of("4e71", "4642"),
              List.of("42c1", "9079f26d0000", "f2000022")),
          // nop; inc %g1; fadds
          new Machine(
              "sparc",
              UcConst.UC_ARCH_SPARC,
              UcConst.UC_MODE_SPARC32 | BIG,
              -1,
              List.of("01000000", "82006001"),
              List.of("81a00820")));

  private static Machine arm(String name, int mode, List<String> runs, List<String> translated) {
    return new Machine(name, UcConst.UC_ARCH_ARM, mode, -1, runs, translated);
  }

  private static Machine riscv(String name, int mode) {
    return new Machine(
        name,
        UcConst.UC_ARCH_RISCV,
        mode,
        -1,
        List.of("13000000", "0100", "13051500"),
        List.of("22a4", "9820", "53050502"));
  }

  private static Machine mips(String name, int mode, int order, int model) {
    return new Machine(
        name,
        UcConst.UC_ARCH_MIPS,
        mode | order,
        model,
        words(order, 0, 0x2442_0001, 0x0062_001a),
        words(order, 0x4600_0000, 0xc082_0000, 0x8c82_0000, 0x4082_6000));
  }

  private static List<String> words(int order, int... words) {
    return Arrays.stream(words)
        .map(word -> order == BIG ? word : Integer.reverseBytes(word))
        .mapToObj("%08x"::formatted)
        .toList();
  }

  @Test
  void noBlockIsLongerThanTheTranslatorsBear() throws Exception {
    Process child = child(Straight.class, "" + INSTRUCTIONS);
    String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(child.waitFor()).as(said).isZero();
    assertThat(said.lines().filter(line -> line.startsWith("ok ")))
        .as(said)
        .hasSize(MACHINES.stream().mapToInt(m -> m.runs().size() + m.translated().size()).sum());
  }

  /**
   * One random instruction, again and again, must not end the process where it does not by itself.
   * {@code -Dretstack.blocks.random=N}: so many for each machine, and more straight code; {@code
   * -Dretstack.seed=S}.
   */
  @Test
  void randomInstructionsAreNoLonger() throws Exception {
    int most = RANDOM > 0 ? RANDOM : 25;
    long fresh = Long.getLong("retstack.seed.default", System.nanoTime() & Long.MAX_VALUE);
    long seed = Long.getLong("retstack.seed", fresh);
    System.out.println("BlockBoundTest: -Dretstack.seed=" + seed);
    int end = most * MACHINES.size();
    for (int from = 0; from < end; ) {
      Process child = child(Random.class, "" + seed, "" + from, "" + end);
      List<String> said =
          new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> line.startsWith("try "))
              .toList();
      int code = child.waitFor();
      assertThat(code == 0 || said.getLast().endsWith(" alone"))
          .as("last: %s", said.getLast())
          .isTrue();
      from = code == 0 ? end : Integer.parseInt(said.getLast().split(" ", -1)[1]) + 1;
    }
  }

  private static Process child(Class<?> main, String... arguments) throws java.io.IOException {
    WithoutCompiler.assumeBounded();
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            main.getName());
    java.command().addAll(List.of(arguments));
    return java.redirectErrorStream(true).start();
  }

  /** What ran of code. */
  private static final class Blocks {
    long instructions;
    int longest;
    String failed = "";
  }

  /** Runs code from its third instruction on. */
  private static Blocks run(Machine machine, byte[] instruction, int times, boolean all) {
    Blocks ran = new Blocks();
    try (Unicorn engine = Unicorn.open(machine.arch(), machine.mode())) {
      if (machine.model() >= 0) {
        engine.ctl_set_cpu_model(machine.model());
      }
      engine.mem_map(0, 0x1_0000, UcConst.UC_PROT_ALL); // of s390x; and what wild operands meet
      engine.mem_map(CODE, CODE_BYTES, UcConst.UC_PROT_ALL);
      byte[] code = new byte[instruction.length * times];
      for (int i = 0; i < code.length; i++) {
        code[i] = instruction[i % instruction.length];
      }
      engine.mem_write(CODE, code);
      engine.hook_add_block(
          (address, size) -> {
            int count = engine.ctl_request_cache(address);
            ran.instructions += count;
            ran.longest = Math.max(ran.longest, count);
            if (!all) {
              engine.emu_stop();
            }
          },
          1,
          0);
      boolean thumb = machine.mode() == UcConst.UC_MODE_THUMB;
      long start = CODE + 2L * instruction.length + (thumb ? 1 : 0);
      try {
        engine.emu_start(start, CODE + code.length);
      } catch (UnicornException e) {
        ran.failed = e.getMessage();
      }
    }
    return ran;
  }

  /** What a child runs: the number of instructions. */
  static final class Straight {
    private Straight() {}

    public static void main(String[] args) {
      for (Machine machine : MACHINES) {
        for (String hex : machine.runs()) {
          System.out.println("runs " + machine.name() + " " + hex);
          byte[] code = HexFormat.of().parseHex(hex);
          int times = Math.min(Integer.parseInt(args[0]), CODE_BYTES / code.length);
          Blocks ran = run(machine, code, times, true);
          boolean toTheEnd = ran.instructions == times - 2 || ran.instructions == times - 1;
          told(ran, ran.failed.isEmpty() && toTheEnd && ran.longest == MOST);
        }
        for (String hex : machine.translated()) {
          System.out.println("translated " + machine.name() + " " + hex);
          told(run(machine, HexFormat.of().parseHex(hex), 2_000, false), true);
        }
      }
    }

    private static void told(Blocks ran, boolean good) {
      System.out.printf(
          "%s %d instructions, blocks of up to %d, %s%n",
          good && ran.longest <= MOST ? "ok" : "BAD", ran.instructions, ran.longest, ran.failed);
    }
  }

  /** What a child runs: seed, the first number and one past the last. */
  static final class Random {
    private Random() {}

    public static void main(String[] args) {
      int end = Integer.parseInt(args[2]);
      for (int i = Integer.parseInt(args[1]); i < end; i++) {
        Machine machine = MACHINES.get(i % MACHINES.size());
        SplittableRandom random = new SplittableRandom(Long.parseLong(args[0]) * 1_000_003 + i);
        byte[] instruction = new byte[2 * random.nextInt(1, 5)];
        random.nextBytes(instruction);
        String what =
            "try %d %s %s ".formatted(i, machine.name(), HexFormat.of().formatHex(instruction));
        System.out.println(what + "alone");
        // a few times, since its operands may lie in the next one: libunicorn ends the process at
        // f273 f273 of m68k (FScc with a condition above 31), not at f273 0000
        run(machine, instruction, 8, false);
        System.out.println(what + "often");
        run(machine, instruction, 2_000, false);
      }
    }
  }
}
