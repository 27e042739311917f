package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Running in slices is exact, and so is the clock that counts instructions by block. */
class SlicesTest {
  private static final int[] SLICES = {1, 7, 97, 1000, 1_000_000};

  /** What a run did. */
  private record Trace(long result, List<Long> blocks, int starts) {}

  @ParameterizedTest
  @EnumSource
  void anySliceLengthGivesTheSameResultAndTheSameBlocks(GuestProgram program) {
    Trace whole = run(program, Integer.MAX_VALUE);
    assertThat(whole.result()).isEqualTo(GuestProgram.expected());
    assertThat(whole.starts()).isEqualTo(1);
    for (int slice : SLICES) {
      Trace sliced = run(program, slice);
      assertThat(sliced.result()).as("slice %d", slice).isEqualTo(whole.result());
      assertThat(sliced.blocks()).as("slice %d", slice).isEqualTo(whole.blocks());
      assertThat(sliced.starts()).isEqualTo((whole.blocks().size() - 1) / slice + 1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void instructionCountOfBlocksEqualsACountOfEachInstruction(GuestProgram program) {
    long[] counted = new long[2];
    try (Unicorn uc = program.load()) {
      Map<Long, Integer> sizes = new HashMap<>();
      uc.hook_add_block(
          (address, size) -> counted[0] += sizes.computeIfAbsent(address, uc::ctl_request_cache),
          1,
          0);
      uc.emu_start(GuestProgram.CODE, program.stop);
    }
    try (Unicorn uc = program.load()) {
      uc.hook_add_code((address, size) -> counted[1]++, 1, 0);
      uc.emu_start(GuestProgram.CODE, program.stop);
    }
    assertThat(counted[0]).isEqualTo(counted[1]).isGreaterThan(8000);
  }

  /** Runs to the end, at most so many blocks at a time. */
  private static Trace run(GuestProgram program, int slice) {
    List<Long> blocks = new ArrayList<>();
    int[] left = new int[1];
    boolean[] stopped = {true};
    int starts = 0;
    try (Unicorn uc = program.load()) {
      uc.hook_add_block(
          (address, size) -> {
            if (left[0] == 0) {
              stopped[0] = true;
              uc.emu_stop();
              return; // before it is counted: it comes again
            }
            left[0]--;
            blocks.add(address);
          },
          1,
          0);
      for (long pc = GuestProgram.CODE; stopped[0]; pc = uc.reg_read(program.pc)) {
        stopped[0] = false;
        left[0] = slice;
        uc.emu_start(pc, program.stop);
        starts++;
      }
      return new Trace(uc.reg_read(program.result), blocks, starts);
    }
  }
}
