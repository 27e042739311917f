package dev.retstack.fleet.probe;

import dev.retstack.schema.codec.RecordBatch;

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
  public void enableFtraceGraphCaller() {}

  @Override
  public void disableFtraceGraphCaller() {}

  @Override
  public long overruns() {
    return 0;
  }

  @Override
  public long unhijackable() {
    return 0;
  }
}
