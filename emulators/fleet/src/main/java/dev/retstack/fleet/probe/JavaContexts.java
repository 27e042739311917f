package dev.retstack.fleet.probe;

import dev.retstack.fleet.control.TraceSettings;
import dev.retstack.fleet.core.TraceClock;
import dev.retstack.schema.codec.RecordBatch;
import java.util.function.Supplier;

/** The contexts of a core whose probe is in Java. */
final class JavaContexts implements Contexts.Listener<JavaFrames> {
  private final Contexts<JavaFrames> contexts;
  private final EventRecords events;
  private final Supplier<RecordBatch> batch;
  private final TraceClock clock;
  private final long codeMask;

  /** The one that the core is in. */
  private Context<JavaFrames> current;

  /**
   * One task.
   *
   * @param batch where records go now
   * @param limit most frames of a context
   */
  JavaContexts(
      EventRecords events,
      Supplier<RecordBatch> batch,
      TraceClock clock,
      long codeMask,
      StackRegions regions,
      Supplier<TraceSettings> settings,
      int limit) {
    this.events = events;
    this.batch = batch;
    this.clock = clock;
    this.codeMask = codeMask;
    contexts = new Contexts<>(() -> new JavaFrames(limit, settings.get()), regions, this);
    current = contexts.current();
  }

  /** The frames of the current context. */
  JavaFrames frames() {
    return current.frames;
  }

  /** True where an address is in the current window: nothing is to be asked. */
  boolean holds(long address) {
    return contexts.holds(address);
  }

  /** {@link Contexts#enter}. */
  boolean enter(long retP, long fp) {
    boolean entered = contexts.enter(retP, fp);
    current = contexts.current();
    return entered;
  }

  /** {@link Contexts#exit}. */
  void exit(int handler, long stackPointer, long above) {
    contexts.exit(handler, stackPointer, above);
    current = contexts.current();
  }

  /** {@link Probe#interruptEnter}. */
  void interruptEnter(long number, long pc, long stackPointer, boolean tell) {
    contexts.interruptEnter(number, pc, stackPointer, false, tell);
    current = contexts.current();
  }

  /** {@link Probe#interruptExit}. */
  void interruptExit(long pc, long stackPointer) {
    contexts.interruptExit(pc, stackPointer);
    current = contexts.current();
  }

  /** From here on other settings count, in all of them. */
  void follow(SiteRules rules) {
    contexts.all().forEach(frames -> frames.follow(rules));
  }

  /** {@link JavaFrames#forgetSlots}, in all of them. */
  void forgetSlots() {
    contexts.all().forEach(JavaFrames::forgetSlots);
  }

  @Override
  public void write(JavaFrames left) {
    left.late.writeAll(left.visible(), events, batch.get(), codeMask);
  }

  @Override
  public void record(byte kind, int depth, long selfPc, long fromPc, long retP) {
    events.record(batch.get(), kind, clock.now(), depth, selfPc, fromPc, retP, 0);
  }

  @Override
  public void over(JavaFrames left) {}
}
