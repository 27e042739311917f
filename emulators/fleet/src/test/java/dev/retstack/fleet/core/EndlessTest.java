package dev.retstack.fleet.core;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.memory.Ram;
import dev.retstack.schema.CoreEnd;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs that do not end, by means other than a loop: each ends at its limit of instructions, and
 * within 2 s where it is told to.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EndlessTest {
  private static final long LIMIT = 30_000;
  private static final Ram RAM = new Ram(0x2000_0000, 0x100_0000);
  private static final int WORDS = 8_192;
  private static final byte[] RET = {(byte) 0xc0, 0x03, 0x5f, (byte) 0xd6}; // of aarch64
  private static final String HANDLER = "rtos_interrupt";

  /**
   * A program.
   *
   * @param prepare writes it into memory
   */
  record Program(String name, LoadedImage image, Consumer<Core> prepare) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Program> programs() throws IOException {
    LoadedImage kernel = kernel();
    LoadedImage aarch64 = image("zoo-aarch64-mcount.elf");
    LoadedImage x86 = image("zoo-x86_64-mcount.elf");
    LoadedImage s390x = image("zoo-s390x-mcount.elf");
    return Stream.of(
        new Program(
            "the counting function returns to itself",
            aarch64,
            core -> {
              long mcount = counting(aarch64);
              int low = (int) (mcount & 0xffff) << 5;
              int high = (int) (mcount >> 16 & 0xffff) << 5;
              ByteBuffer code = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
              code.putInt(0xd280_001e | low).putInt(0xf2a0_001e | high); // mov x30
              code.putInt(0xd65f_03c0); // ret
              core.engine().mem_write(aarch64.elf().entry(), code.array());
            }),
        new Program(
            "an interrupt at every block",
            kernel, // 1: b 1b; the handler: ret
            core -> {
              write(core, kernel, "00000014");
              core.engine().mem_write(address(kernel, HANDLER), RET);
            }),
        new Program(
            "a stack of returns to the counting function",
            x86,
            core -> {
              ByteBuffer stack = ByteBuffer.allocate(8 * WORDS).order(ByteOrder.LITTLE_ENDIAN);
              for (int i = 1; i < WORDS; i++) {
                stack.putLong(counting(x86));
              }
              stack.putLong(x86.elf().entry());
              core.engine().mem_write(RAM.base(), stack.array());
              write(core, x86, "bc00000020 c3"); // mov $0x20000000,%esp; ret
            }),
        new Program(
            "a block that goes to itself",
            x86,
            core -> write(core, x86, "90 90 ebfc")), // 1: nop; nop; jmp 1b
        new Program(
            "code that writes itself",
            x86, // mov $0x20000000,%ebx; 1: movl $(inc %eax; ret),(%rbx); call *%rbx; jmp 1b
            core -> write(core, x86, "bb00000020 c703ffc0c300 ffd3 ebf6")),
        new Program(
            "system calls that take long",
            x86, // 1: mov $11,%eax; movabs $0x3000000000,%rdi; movabs $0x100000000,%rsi; syscall
            core ->
                write(core, x86, "b80b000000 48bf0000000030000000 48be0000000001000000 0f05 ebe3")),
        new Program(
            "more and more mappings",
            x86, // 1: mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); jmp 1b
            core ->
                write(
                    core,
                    x86,
                    "b809000000 31ff be00100000 ba01000000 41ba22000000 49c7c0ffffffff 4531c9"
                        + " 0f05 ebdb")),
        new Program(
            "an instruction with 16 M rounds",
            x86, // 1: mov $0x20000000,%esi; mov $0x1000000,%ecx; rep lodsb; jmp 1b
            core -> write(core, x86, "be00000020 b900000001 f3ac ebf2")),
        new Program(
            "an instruction that moves 16 MiB",
            s390x, // llilh %r2,0x2000; llilh %r4,..; lhi/llilh lengths; 1: mvcle %r2,%r4,0; jo 1b
            core ->
                write(
                    core,
                    s390x,
                    "a52e2000 a53e0080 a54e2080 a55e0080 a8240000 a714fffe a7f4fff4")));
  }

  @ParameterizedTest
  @MethodSource("programs")
  void endsAtItsLimit(Program program) {
    List<Object> told = new ArrayList<>();
    for (ProbeKind probe : List.of(ProbeKind.AUTO, ProbeKind.JAVA)) {
      CoreOptions options = options(program.image(), probe).withInstructionLimit(LIMIT);
      Run run = Run.of(program.image(), options, 7_777, program.prepare());
      assertThat(run.ending().detail()).startsWith("limit of %d instructions".formatted(LIMIT));
      assertThat(run.records().size()).isLessThan((int) (10 * LIMIT));
      told.add(List.of(run.instructions(), run.records()));
    }
    assertThat(told.getFirst()).isEqualTo(told.getLast());
  }

  @ParameterizedTest
  @MethodSource("programs")
  void endsWhenItIsTold(Program program) throws Exception {
    for (ProbeKind probe : List.of(ProbeKind.AUTO, ProbeKind.JAVA)) {
      CoreOptions options = options(program.image(), probe);
      try (ExecutorService thread = Executors.newSingleThreadExecutor();
          Core core = Core.open(program.image(), options)) {
        program.prepare().accept(core);
        Future<Core.Slice> running =
            thread.submit(
                () -> {
                  Core.Slice how;
                  do {
                    how = core.run(Long.MAX_VALUE / 2);
                    core.probe().clear();
                  } while (how == Core.Slice.BATCH_FULL);
                  return how;
                });
        assertThatThrownBy(() -> running.get(50, MILLISECONDS))
            .isInstanceOf(TimeoutException.class);
        core.hurry();
        assertThat(running.get(2, SECONDS)).isEqualTo(Core.Slice.DEADLINE);
      }
    }
  }

  /** No instruction runs where the controller answers, so none would ever reach a limit. */
  @ParameterizedTest
  @EnumSource(
      value = ProbeKind.class,
      names = {"JAVA", "NATIVE"})
  void aCallOfTheControllerThatReturnsToItselfIsAFault(ProbeKind probe) throws IOException {
    LoadedImage kernel = kernel();
    long mask = address(kernel, "interrupt_mask");
    CoreOptions options = options(kernel, probe).withInstructionLimit(LIMIT);
    Run run =
        Run.of(
            kernel,
            options,
            7_777,
            core -> {
              int low = (int) (mask & 0xffff) << 5;
              int high = (int) (mask >> 16 & 0xffff) << 5;
              ByteBuffer code = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
              code.putInt(0xd280_001e | low).putInt(0xf2a0_001e | high); // mov x30
              code.put(RET);
              core.engine().mem_write(kernel.elf().entry(), code.array());
              core.engine().mem_write(address(kernel, HANDLER), RET);
            });
    assertThat(run.ending().end()).isEqualTo(CoreEnd.FAULTED);
    assertThat(run.ending().detail())
        .isEqualTo(
            "interrupt controller at pc interrupt_mask+0x0 (0x%x): called 1000 times without an"
                    .formatted(mask)
                + " instruction between: does it return to itself?");
  }

  private static LoadedImage kernel() throws IOException {
    return LoadedImage.load(Zoo.GUEST.resolve("rtos/images/rtos-aarch64-mcount.elf"));
  }

  private static long address(LoadedImage image, String function) {
    return image.elf().symbol(function).orElseThrow().address();
  }

  /** An image with a handler of interrupts is interrupted as often as can be. */
  private static CoreOptions options(LoadedImage image, ProbeKind probe) {
    CoreOptions options = Run.options().withProbe(probe).withRam(List.of(RAM));
    return image.elf().symbol(HANDLER).isEmpty()
        ? options
        : options.withTimers(List.of(new InterruptTimer(1, HANDLER)));
  }

  private static LoadedImage image(String name) {
    return Zoo.images().stream().filter(i -> i.elf().name().equals(name)).findFirst().orElseThrow();
  }

  private static long counting(LoadedImage image) {
    return image.conventions().getFirst().countingFunctions().getFirst().address();
  }

  private static void write(Core core, LoadedImage image, String hex) {
    core.engine().mem_write(image.elf().entry(), HexFormat.of().parseHex(hex.replace(" ", "")));
  }
}
