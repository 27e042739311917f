package dev.retstack.fleet.isolate;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.ImageLayout;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.unicorn.UnicornException;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/**
 * The child of a {@link MutantRunner}: reads mutants from standard input until it ends, runs a
 * slice of each and answers in a line.
 */
final class MutantHost {
  private static final long SLICE = 20_000;
  private static final int ANSWER_CHARS_MAX = 16_000;

  private MutantHost() {}

  /** The child's process: the argument names the file that takes the answers. */
  public static void main(String[] arguments) throws IOException {
    try (DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(new FileOutputStream(arguments[0]))) {
      while (true) {
        byte[] mutant = in.readNBytes(in.readInt());
        out.writeUTF(answer(mutant));
        out.flush();
      }
    }
  }

  private static String answer(byte[] mutant) {
    try {
      return "RUN " + runSlice(ElfFile.parse(mutant, "mutant.elf"));
    } catch (ElfFormatException e) {
      return "REFUSED " + e.getMessage();
    } catch (RuntimeException | Error e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace, true));
      String text = "DEFECT " + trace;
      return text.substring(0, Math.min(text.length(), ANSWER_CHARS_MAX));
    }
  }

  /**
   * Loads it, and runs a slice where a core can be had: what the guest then does is its affair.
   *
   * @return how it ended
   */
  private static String runSlice(ElfFile elf) throws ElfFormatException {
    LoadedImage image = LoadedImage.of(elf);
    ImageLayout.describe(image.requireCallSites());
    CoreOptions options =
        CoreOptions.of(LinuxOptions.of("mutant").withArguments(List.of("mutant", "fib")))
            .withInstructionLimit(SLICE);
    Core core;
    try {
      core = Core.open(image, options);
    } catch (UnicornException | IllegalArgumentException e) {
      if (e.getMessage() == null || e.getMessage().length() < 10) {
        throw new IllegalStateException("a refusal without a reason", e);
      }
      return e.getMessage(); // the fleet tells it as the core's end
    }
    try (core) {
      Core.Slice slice;
      do {
        slice = core.run(SLICE);
        core.probe().clear();
      } while (slice == Core.Slice.BATCH_FULL);
      if (slice != Core.Slice.DEADLINE && core.ending().isEmpty()) {
        throw new IllegalStateException(slice + " without an ending");
      }
      return core.ending().map(ending -> ending.detail()).orElse("runs on");
    }
  }
}
