package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Sureness.*;

/** A call site, by its frompc, and the point where a call from it has returned. */
final class Packed2Site extends Packed2Point {
  /** Wrong foretellings of a field, after which it is always coded. */
  private static final int STRIKES_MAX = 3;

  /** As in {@link Packed2Layout}. */
  final int number;

  long address;
  Packed2Function callee;
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

  Packed2Site(int number) {
    this.number = number;
  }

  /** A site never seen before. */
  void reset(long newAddress, Packed2Function nobody) {
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
  void resetStranger(Packed2Function nobody) {
    reset(0, nobody);
    sureness = VARIES;
    retPStrikes = STRIKES_MAX;
    fpStrikes = STRIKES_MAX;
  }

  /** What stands for the return: like a call with retp and fp of the running frame. */
  void resetBack(Packed2Function nobody) {
    reset(0, nobody);
    fpInherited = true;
    plain = true;
  }

  boolean isBack() {
    return number == Packed2Layout.RETURN;
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
  void learnCallee(Packed2Function function) {
    boolean known = sureness != UNSURE || callee.number != Packed2Layout.NEW;
    if (known) {
      sureness = taught(sureness, function == callee && function.number != Packed2Layout.NEW);
    }
    callee = function;
    link = function.number << RecordBatch.LINK_SITE_BITS | number;
    settle();
  }

  private void settle() {
    plain = sureness == SURE && !retPVaries() && !fpVaries();
  }
}
