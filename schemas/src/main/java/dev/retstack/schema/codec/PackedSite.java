package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedSureness.*;

/** A call site, by its frompc, and the point where a call from it has returned. */
final class PackedSite extends PackedPoint {
  /** Wrong foretellings of a field, after which it is always coded. */
  private static final int STRIKES_MAX = 3;

  /** As in {@link PackedLayout}. */
  final int number;

  long address;
  PackedFunction callee;
  int sureness;

  /** retp of a call minus retp of its caller. */
  long retPStep;

  /** fp of a call minus retp of its caller; where fp varies, the last fp. */
  long fpStep;

  /** True where a call has the fp of its caller. */
  boolean fpInherited;

  private int retPStrikes;
  private int fpStrikes;

  /** True where a call is as foretold in all fields, unless an escape tells otherwise. */
  boolean plain;

  /** Numbers of the callee and of the site, as a {@linkplain RecordBatch#links link}. */
  int link;

  PackedSite(int number) {
    this.number = number;
  }

  /** A site never seen before. */
  void reset(long newAddress, PackedFunction nobody) {
    forget();
    address = newAddress;
    callee = nobody;
    sureness = UNSURE;
    retPStep = 0;
    fpStep = 0;
    fpInherited = false;
    retPStrikes = 0;
    fpStrikes = 0;
    plain = false;
  }

  /** What stands for all sites without a number: nothing foretells its calls. */
  void resetStranger(PackedFunction nobody) {
    reset(0, nobody);
    sureness = VARIES;
    retPStrikes = STRIKES_MAX;
    fpStrikes = STRIKES_MAX;
  }

  /** What stands for the return: like a call with retp and fp of the running frame. */
  void resetBack(PackedFunction nobody) {
    reset(0, nobody);
    fpInherited = true;
    plain = true;
  }

  boolean isBack() {
    return number == PackedLayout.RETURN;
  }

  boolean retPVaries() {
    return retPStrikes == STRIKES_MAX;
  }

  boolean fpVaries() {
    return fpStrikes == STRIKES_MAX;
  }

  /** Counts a wrong foretelling of retp. */
  void strikeRetP() {
    retPStrikes++;
    settle();
  }

  void strikeFp() {
    fpStrikes++;
    settle();
  }

  /** Learns whom it called. */
  void learnCallee(PackedFunction function) {
    boolean known = sureness != UNSURE || callee.number != PackedLayout.NEW;
    if (known) {
      sureness = taught(sureness, function == callee && function.number != PackedLayout.NEW);
    }
    callee = function;
    link = function.number << RecordBatch.LINK_SITE_BITS | number;
    settle();
  }

  private void settle() {
    plain = sureness == SURE && !retPVaries() && !fpVaries();
  }
}
