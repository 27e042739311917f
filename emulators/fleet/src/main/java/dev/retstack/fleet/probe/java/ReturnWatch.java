package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.EventRecords;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.probe.java.BlockProbe.Block;
import dev.retstack.fleet.probe.unwind.SmashedReturns;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.schema.record.RecordBatch;
import java.util.function.IntConsumer;

/**
 * Finds returns that never arrive, for {@link JavaProbe}: it looks at each block of the program.
 */
final class ReturnWatch {
  private static final long NOWHERE = -1;

  private final SmashedReturns returns;
  private RetStack stack;
  private LateEntries late;
  private final EventRecords events;
  private final TraceClock clock;
  private final CodeAddresses addresses;
  private final boolean everywhere;
  private final IntConsumer giveUp;

  /** The block of the program that ran last. */
  private long last = NOWHERE;

  /** One past the last block that was the program's, whatever the tracer did since. */
  private long end;

  ReturnWatch(
      SmashedReturns returns,
      EventRecords events,
      TraceClock clock,
      CodeAddresses addresses,
      boolean everywhere,
      IntConsumer giveUp) {
    this.everywhere = everywhere;
    this.giveUp = giveUp;
    this.returns = returns;
    this.events = events;
    this.clock = clock;
    this.addresses = addresses;
  }

  /** The block of the program that ran last; none is at -1. */
  long last() {
    return last;
  }

  /** One past that block; the tracer's do not count. */
  long end() {
    return end;
  }

  /** The frame on top came or went. */
  void top() {
    returns.watch(stack);
  }

  /** These frames are watched from now on. */
  void goOnIn(RuledStack frames) {
    stack = frames;
    late = frames.late;
    returns.watch(stack);
  }

  /** A block is about to run; this is what it is. */
  Block ran(Block block, long address, int size) {
    end = block == Block.PROGRAM ? address + size : end;
    last =
        switch (block) {
          case PROGRAM -> address;
          case TRACER -> NOWHERE;
          case FULL, ELSEWHERE -> last;
        };
    return block;
  }

  /**
   * The program is at an address.
   *
   * @param ended true where it cannot continue there
   * @return false where there is no room to say how it came there: it comes again
   */
  boolean check(long address, RecordBatch batch, boolean ended) {
    boolean looks = (everywhere || ended) && returns.isPassed();
    int frame = looks ? returns.find(stack, address, last) : SmashedReturns.NONE;
    if (frame < 0) {
      return true;
    }
    if (batch.isFull() && !ended) {
      return false;
    }
    int first = stack.first(frame);
    boolean isShown = !late.isUnwritten() && !stack.isHidden(frame);
    if (isShown) {
      events.smashed(batch, clock.now(), stack, frame, address, addresses);
    }
    giveUp.accept(frame + 1);
    stack.truncate(frame);
    if (isShown) {
      stack.showExit(frame);
    }
    stack.truncate(first);
    returns.watch(stack);
    return true;
  }
}
