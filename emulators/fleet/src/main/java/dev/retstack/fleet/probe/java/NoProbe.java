package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.RecordBuffer;
import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.RecordBatch;
import java.util.Map;

/** Traces nothing: every block is the program's. */
public final class NoProbe implements BlockProbe {
  private final RecordBatch none = new RecordBatch(0);

  @Override
  public Block onBlock(long address, int size) {
    return Block.PROGRAM;
  }

  @Override
  public void codeChanged() {}

  @Override
  public void recordInto(RecordBuffer buffer) {}

  @Override
  public RecordBatch batch() {
    return none;
  }

  @Override
  public void clear() {}

  @Override
  public void updateFtraceFunc(SiteRules rules) {}

  @Override
  public boolean isPaused() {
    return true;
  }

  @Override
  public void pause(boolean value) {}

  @Override
  public boolean event(byte kind, long selfPc, long fromPc, long... values) {
    return false;
  }

  @Override
  public void mark(Mark mark, long function, long time, long command) {}

  @Override
  public void note(RecordBatch change) {}

  @Override
  public void fetchFailed(long address) {}

  @Override
  public void interruptEnter(long number, long pc) {}

  @Override
  public void interruptExit(long pc) {}

  @Override
  public void signalEnter(
      long number, long pc, long stackPointer, long top, long stack, long stackBytes) {}

  @Override
  public void signalExit(long top, long pc) {}

  @Override
  public void threadSwitched(long id, boolean ended) {}

  @Override
  public Map<Long, Long> innermost() {
    return Map.of();
  }

  @Override
  public boolean isWaiting() {
    return false;
  }

  @Override
  public Keyframe keyframe() {
    return null;
  }

  @Override
  public long overruns() {
    return 0;
  }

  @Override
  public long abandoned() {
    return 0;
  }

  @Override
  public long unhijackable() {
    return 0;
  }

  @Override
  public long[] leftAlone() {
    return new long[0];
  }
}
