package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.GuestAccessException;
import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.core.LandingPage;
import dev.retstack.fleet.core.TraceClock;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.CallForm;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Operand;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.List;

/**
 * The reference probe: entry hijack and exit restore in Java, driven by the ABI card alone.
 *
 * <p>The counting function and every handler slot begin a block, so the core's block hook is the
 * place where both are seen. An entry puts the address of a handler slot where the function's
 * return address was; the return then arrives there, and the landing code goes on at the saved
 * address through the mailbox.
 */
public final class JavaProbe implements Probe {
  private final Unicorn engine;
  private final GuestMemory memory;
  private final LandingPage landing;
  private final TraceClock clock;
  private final int stackPointer;
  private final long wordMask;
  private final AbiCard[] cards;
  private final long[] countingFunctions;
  private final RetStack stack;
  private final Long2LongOpenHashMap selfPcs = new Long2LongOpenHashMap();
  private final RecordBatch batch;
  private long overruns;
  private long unhijackable;

  /**
   * A probe of one core.
   *
   * @param functions the counting functions of the image, each with its convention
   * @param retStackLimit most hijacked returns at a time
   * @param batch where records go
   */
  public JavaProbe(
      Unicorn engine,
      GuestMemory memory,
      LandingPage landing,
      TraceClock clock,
      Isa isa,
      List<CountingFunction> functions,
      int retStackLimit,
      RecordBatch batch) {
    this.engine = engine;
    this.memory = memory;
    this.landing = landing;
    this.clock = clock;
    this.stackPointer = isa.registers().sp();
    this.wordMask = isa.wordBytes() == 8 ? -1 : 0xffff_ffffL;
    this.cards = functions.stream().map(CountingFunction::card).toArray(AbiCard[]::new);
    this.countingFunctions = functions.stream().mapToLong(CountingFunction::address).toArray();
    this.stack = new RetStack(retStackLimit, LandingPage.SLOTS);
    this.batch = batch;
  }

  @Override
  public Block onBlock(long address) {
    for (int i = 0; i < countingFunctions.length; i++) {
      if (address == countingFunctions[i]) {
        if (batch.isFull()) {
          return Block.FULL;
        }
        entry(i);
        return Block.TRACER;
      }
    }
    int handler = landing.slotAt(address);
    if (handler < 0) {
      return Block.PROGRAM;
    }
    if (batch.isFull()) {
      return Block.FULL;
    }
    exit(handler);
    return Block.TRACER;
  }

  private void entry(int index) {
    AbiCard card = cards[index];
    try {
      long slot = value(card.slot());
      long from = memory.readWord(slot);
      if (card.parent().isPresent() && value(card.parent().get()) != from) {
        unhijackable++;
        return;
      }
      long self = selfPc(card, value(card.returnAddress()));
      enter(index, self, from, slot, value(card.fpAtEntry()));
    } catch (GuestAccessException noFrameThere) {
      unhijackable++;
    }
  }

  private void enter(int index, long self, long from, long slot, long fp) {
    int tailCaller = landing.slotAt(from);
    dropDeadFrames(cards[index], tailCaller, slot, fp);
    if (stack.isFull()) {
      overruns++;
      return;
    }
    int frame = stack.push(self, from, slot, tailCaller >= 0, index);
    memory.writeWord(slot, landing.slot(stack.handlerOf(frame)));
    batch.add(RecordBatch.ENTRY, clock.now(), frame, self, from, slot, fp);
  }

  /** What a longjmp left on ret_stack must go before the new frame is put there. */
  private void dropDeadFrames(AbiCard card, int tailCaller, long slot, long fp) {
    if (tailCaller >= 0) {
      int frame = stack.find(tailCaller, slot + 1);
      if (frame >= 0 && frame < stack.size()) {
        stack.truncate(frame + 1);
        return;
      }
    }
    if (card.slotFromFp().isEmpty() || !stack.dropAbove(fp + card.slotFromFp().getAsLong())) {
      stack.dropDead(slot);
    }
  }

  private void exit(int handler) {
    int frame = stack.find(handler, engine.reg_read(stackPointer));
    if (frame < 0) {
      throw new IllegalStateException(
          "return to handler slot 0x%x, to which no return was hijacked: the program jumped into"
                  .formatted(landing.slot(handler))
              + " the landing page");
    }
    AbiCard card = cards[stack.cardIndex(frame)];
    long from = stack.fromPc(frame);
    long slot = card.retpAtExit().isPresent() ? value(card.retpAtExit().get()) : stack.retP(frame);
    batch.add(
        RecordBatch.EXIT,
        clock.now(),
        frame,
        stack.selfPc(frame),
        from,
        slot,
        value(card.fpAtExit()));
    stack.truncate(Math.min(frame, stack.size()));
    landing.goOnAt(from);
  }

  private long value(Operand operand) {
    long sum = (engine.reg_read(operand.register()) + operand.offset()) & wordMask;
    return operand.inMemory() ? (memory.readWord(sum) + operand.addend()) & wordMask : sum;
  }

  /** The return address of the counting call, minus the size of that call. */
  private long selfPc(AbiCard card, long returnAddress) {
    long known = selfPcs.get(returnAddress);
    if (known == 0) {
      known = returnAddress - callSize(card, returnAddress);
      selfPcs.put(returnAddress, known);
    }
    return known;
  }

  private int callSize(AbiCard card, long returnAddress) {
    int size = 0;
    for (CallForm form : card.callForms()) {
      size = form.size();
      if (memory.isMapped(returnAddress - size, size)) {
        byte[] call = memory.read(returnAddress - size, size);
        long code = 0;
        for (int i = 0; i < size; i++) {
          code |= (call[i] & 0xffL) << (8 * i);
        }
        if (form.matches(code)) {
          break;
        }
      }
    }
    return size;
  }

  @Override
  public RecordBatch batch() {
    return batch;
  }

  @Override
  public void clear() {
    batch.clear();
    overruns = 0;
    unhijackable = 0;
  }

  @Override
  public long overruns() {
    return overruns;
  }

  @Override
  public long unhijackable() {
    return unhijackable;
  }
}
