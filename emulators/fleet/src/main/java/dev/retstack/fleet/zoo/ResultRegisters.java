package dev.retstack.fleet.zoo;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** What a function returns must pass the landing page untouched. */
final class ResultRegisters {
  /** The least number of different values that the program returns; fewer prove nothing. */
  private static final int DIFFERENT_MIN = 10;

  private ResultRegisters() {}

  /** Runs a program with a hook on each instruction; returns what is wrong. */
  static Optional<String> fault(LoadedImage image, CoreOptions options, String program) {
    List<String> arrived = new ArrayList<>();
    List<String> wentOn = new ArrayList<>();
    Run run =
        Run.of(
            image,
            options,
            1_000_000,
            core ->
                core.engine()
                    .hook_add_code(
                        (address, size) -> {
                          boolean onItsWay = arrived.size() > wentOn.size();
                          boolean tracers = core.isTracers(address);
                          if (tracers && !onItsWay) {
                            arrived.add(results(core, image.isa().registers()));
                          } else if (onItsWay && !tracers) {
                            wentOn.add(results(core, image.isa().registers()));
                          }
                        },
                        1,
                        0),
            program);
    long different = arrived.stream().distinct().count();
    int exits = exits(run.records());
    if (run.ending().exitCode() != 0 || arrived.size() != exits || different <= DIFFERENT_MIN) {
      return Optional.of(
          "%s; %d exits, %d seen on the way with %d different results"
              .formatted(run.ending().detail(), exits, arrived.size(), different));
    }
    for (int i = 0; i < exits; i++) {
      if (!arrived.get(i).equals(wentOn.get(i))) {
        return Optional.of(
            "exit %d: expected %s, received %s".formatted(i, arrived.get(i), wentOn.get(i)));
      }
    }
    return Optional.empty();
  }

  private static int exits(RecordBatch records) {
    int exits = 0;
    for (int i = 0; i < records.size(); i++) {
      exits += records.kind[i] == RecordBatch.EXIT ? 1 : 0;
    }
    return exits;
  }

  private static String results(Core core, Registers registers) {
    StringBuilder all = new StringBuilder();
    try (Arena arena = Arena.ofConfined()) {
      for (Registers.Named register : registers.results()) {
        MemorySegment bytes = arena.allocate(register.bytes(), 16);
        core.engine().reg_read(register.id(), bytes);
        all.append(register.name())
            .append('=')
            .append(HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE)))
            .append(' ');
      }
    }
    return all.toString();
  }
}
