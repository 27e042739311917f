package dev.retstack.fleet;

/** What a core has done. */
record CoreProgress(
    long instructions, long records, long chunks, long overruns, long unhijackable) {
  static final CoreProgress NOTHING = new CoreProgress(0, 0, 0, 0, 0);

  CoreProgress plus(CoreProgress other) {
    return new CoreProgress(
        instructions + other.instructions,
        records + other.records,
        chunks + other.chunks,
        overruns + other.overruns,
        unhijackable + other.unhijackable);
  }
}
