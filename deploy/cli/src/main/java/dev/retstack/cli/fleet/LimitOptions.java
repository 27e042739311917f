package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.memory.ByteSize;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How much a core and its program may use. */
public final class LimitOptions {
  @Option(
      names = "--max-instructions",
      paramLabel = "N",
      description =
          "Stop each core after about N instructions. Changes of the memory map count too, where a"
              + " program has more than 256 mappings at addresses that it chose itself.")
  private long instructions = CoreOptions.UNLIMITED;

  @Option(
      names = "--ret-stack",
      defaultValue = "" + CoreOptions.RET_STACK_LIMIT,
      paramLabel = "N",
      description =
          "Trace at most N open calls of a task; deeper calls are counted (${DEFAULT-VALUE}).")
  private int retStack;

  @Option(
      names = "--check-returns",
      description =
          "Check at each block whether a function returned by an overwritten return address"
              + " (STACK_SMASHED). This costs some percent. Without it, only returns to an address"
              + " without code are seen.")
  private boolean checkReturns;

  @Option(
      names = "--memory",
      paramLabel = "BYTES",
      converter = Bytes.class,
      description = "Maximum memory for heap and mappings of the program, such as 64M (256M).")
  private long memory = LinuxOptions.MEMORY_BYTES_MAX;

  @Option(
      names = "--max-output",
      paramLabel = "BYTES",
      converter = Bytes.class,
      description = "Stop the program when it has printed more than this, such as 1G (64M).")
  private long output = LinuxOptions.OUTPUT_BYTES_MAX;

  @Option(
      names = "--stack",
      paramLabel = "BYTES",
      converter = Bytes.class,
      description = "Size of the program's stack, in steps of 64K (8M).")
  private long stack = LinuxOptions.STACK_BYTES;

  /**
   * Options with these limits.
   *
   * @throws CommandException where one makes no sense
   */
  CoreOptions in(CoreOptions options) {
    try {
      return options
          .withInstructionLimit(instructions)
          .withRetStackLimit(retStack)
          .withCheckReturns(checkReturns)
          .withLinux(options.linux().withLimits(stack, memory, output));
    } catch (IllegalArgumentException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }

  /** Reads a number of bytes. */
  static final class Bytes implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        return ByteSize.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }
}
