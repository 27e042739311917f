package dev.retstack.fleet.probe;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.core.LandingPage;
import dev.retstack.fleet.core.Trampolines;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.CodeAddresses;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Returns that never arrive, of which the probe in C asks ({@code watch.h}). */
final class NativeReturns {
  private final NativeLibrary layout;
  private final NativeCore core;
  private final SmashedReturns returns;
  private final CodeAddresses addresses;
  private final long reach;

  NativeReturns(
      NativeLibrary layout,
      NativeCore core,
      Unicorn engine,
      GuestMemory memory,
      LandingPage landing,
      Trampolines trampolines,
      Isa isa,
      EntryPoints points) {
    this.layout = layout;
    this.core = core;
    addresses = isa.addresses();
    reach = points.slotReach(isa);
    returns =
        new SmashedReturns(
            engine,
            memory,
            isa,
            points,
            to -> landing.placeAt(to) >= 0 || trampolines.indexAt(to) >= 0);
  }

  /** {@code struct frame}s. */
  private final class Frames implements SmashedReturns.Frames {
    private final MemorySegment all;

    Frames(MemorySegment all) {
      this.all = all;
    }

    private long at(int frame, String field) {
      return frame * layout.at("frame") + layout.at("frame." + field);
    }

    private long get(int frame, String field) {
      return all.get(JAVA_LONG, at(frame, field));
    }

    @Override
    public int size() {
      return (int) core.get("frame_count");
    }

    @Override
    public long selfPc(int frame) {
      return get(frame, "self_pc");
    }

    @Override
    public long fromPc(int frame) {
      return get(frame, "from_pc");
    }

    @Override
    public long slot(int frame) {
      long watched = get(frame, "watched");
      return watched == SmashedReturns.UNWATCHED
          ? 0
          : (watched >>> core.get("watch_shift")) + reach;
    }

    @Override
    public boolean isTail(int frame) {
      return all.get(JAVA_BYTE, at(frame, "tail")) != 0;
    }
  }

  /** As {@link SmashedReturns#find}; where it is none, the block that is asked of may run. */
  int find(MemorySegment frames, long address, long last) {
    core.set("watched", SmashedReturns.UNWATCHED);
    return returns.find(new Frames(frames), address, last);
  }

  /** The block of the program that ran last; none is at -1. */
  long lastBlock() {
    layout.keepLastBlock(core.struct());
    boolean known = core.get("last") == core.struct().address() + layout.at("core.unlisted");
    return known
        ? core.struct().get(JAVA_LONG, layout.at("core.unlisted") + layout.at("block.address"))
        : -1;
  }

  /**
   * What is to be known of a return that has just arrived.
   *
   * @param registers reads those of the core
   */
  GivenUp.Arrival arrival(EntrySlot registers, EntryPoints points) {
    List<AbiCard> cards = points.cards();
    return new GivenUp.Arrival() {
      @Override
      public long[] exits() {
        return registers.exits(cards);
      }

      @Override
      public boolean foretells(int convention, long selfPc, long retP) {
        int card = convention % cards.size(); // those of calls that are skipped stand behind them
        return registers.foretells(cards.get(card), retP)
            || registers.isUp(points.up(card, selfPc), retP);
      }

      @Override
      public boolean isFrom(long selfPc) {
        return points.sameFunction(selfPc, lastBlock());
      }
    };
  }

  /** Records that a frame returned by an overwritten slot. */
  void record(
      MemorySegment all, int frame, long to, long time, EventRecords events, RecordBatch batch) {
    Frames frames = new Frames(all);
    long expected = addresses.instruction(frames.fromPc(SmashedReturns.first(frames, frame)));
    long retP = frames.get(frame, "ret_p");
    events.smashed(batch, time, frame, frames.selfPc(frame), to, retP, expected);
  }

  /** Such a frame is gone, and all above it. */
  void drop(MemorySegment all, int frame) {
    Frames frames = new Frames(all);
    int count = SmashedReturns.first(frames, frame);
    core.set("frame_count", count);
    core.set("watched", count == 0 ? SmashedReturns.UNWATCHED : frames.get(count - 1, "watched"));
  }
}
