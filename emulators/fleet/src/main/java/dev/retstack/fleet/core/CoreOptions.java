package dev.retstack.fleet.core;

import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.probe.task.TaskOptions;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.memory.Ram;
import dev.retstack.schema.chunk.Chunks;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.OptionalLong;

/**
 * How one core runs its image.
 *
 * @param traced false runs the image with its own counting function, and makes no records
 * @param clock what the times of records are
 * @param probe which probe makes them
 * @param trace what is traced from the beginning on
 * @param retStackLimit most hijacked returns at a time; entries beyond it are counted as overruns
 * @param checkReturns true looks at each block whether a function has returned by an overwritten
 *     slot; else only where it went to no code
 * @param libraryCalls true traces calls through the procedure linkage table as functions
 * @param recordsPerChunk capacity of a batch
 * @param instructionLimit the core is stopped at the first block after this number of instructions
 * @param entry address of the first instruction to run, instead of the image's own
 * @param ram memory beside the image's segments
 * @param timers of the interrupt controller; none: there is none
 * @param tasks how the image shows which of its tasks runs
 * @param schedule how threads of the program take turns
 * @param linux arguments, environment and streams of the program
 */
@RecordBuilder
public record CoreOptions(
    boolean traced,
    Clock clock,
    ProbeKind probe,
    TraceSettings trace,
    int retStackLimit,
    boolean checkReturns,
    boolean libraryCalls,
    int recordsPerChunk,
    long instructionLimit,
    OptionalLong entry,
    List<Ram> ram,
    List<InterruptTimer> timers,
    TaskOptions tasks,
    Schedule schedule,
    LinuxOptions linux)
    implements CoreOptionsBuilder.With {

  /** What the times of records are. */
  public enum Clock {
    /** Guest instructions executed. */
    VIRTUAL,
    /** Nanoseconds of the host. */
    HOST
  }

  /** Implementations of the probe; all make the same records. */
  public enum ProbeKind {
    /** The one in C where there is one for this host, else the one in Java. */
    AUTO,
    /** The one in Java: the reference. */
    JAVA,
    /** The one in C. */
    NATIVE
  }

  public static final int RET_STACK_LIMIT = 65_536;

  /**
   * A column of words stays below half a MiB, so that the collector's regions of 1 MiB hold two.
   */
  public static final int RECORDS_PER_CHUNK = 65_000;

  /** No limit of instructions. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  public CoreOptions {
    ram = List.copyOf(ram);
    timers = List.copyOf(timers);
    if (retStackLimit > Chunks.DEPTH_MAX || recordsPerChunk > Chunks.RECORDS_MAX) {
      throw new IllegalArgumentException(
          "ret_stack limit %d, records per chunk %d: at most %d and %d"
              .formatted(retStackLimit, recordsPerChunk, Chunks.DEPTH_MAX, Chunks.RECORDS_MAX));
    }
    if (retStackLimit < 1 || recordsPerChunk < 1 || instructionLimit < 1) {
      throw new IllegalArgumentException(
          "ret_stack limit %d, records per chunk %d, instruction limit %d: each at least 1"
              .formatted(retStackLimit, recordsPerChunk, instructionLimit));
    }
  }

  /** Traced on the virtual clock, without limits, as the program would run on Linux. */
  public static CoreOptions of(LinuxOptions linux) {
    return new CoreOptions(
        true,
        Clock.VIRTUAL,
        ProbeKind.AUTO,
        TraceSettings.standard(),
        RET_STACK_LIMIT,
        false,
        false,
        RECORDS_PER_CHUNK,
        UNLIMITED,
        OptionalLong.empty(),
        List.of(),
        List.of(),
        TaskOptions.NONE,
        Schedule.STANDARD,
        linux);
  }
}
