package dev.retstack.graph.hot;

import dev.retstack.graph.input.AddressMap;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.symbol.FunctionNames;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Hot addresses of many cores, straight from their records. It is a separate pass, so it costs
 * nothing unless it is asked for. Chunks of a core come in order; a chunk that comes again is
 * ignored.
 */
public final class HotCores {
  private static final int MAX_CORES = 100_000;

  private final HotSettings settings;
  private final HotCounter.Kind kind;
  private final Map<CoreKey, Core> cores = new HashMap<>();

  private static final class Core {
    final ImageInfo image;
    final HotCounter counter;
    final AddressMap map;
    long nextSequence;
    long recordsExpected;
    long calls;
    long lost;
    long untraced;

    Core(ImageInfo image, HotCounter counter) {
      this.image = image;
      this.counter = counter;
      this.map = new AddressMap(image.others(), StateBudget.UNLIMITED.open(0));
    }

    void apply(ChunkMeta meta, RecordBatch packed) {
      if (meta.sequence() < nextSequence) {
        return;
      }
      if (meta.sequence() > nextSequence && packed.keyframe() != null) {
        map.begin(packed.keyframe(), packed.images());
      }
      RecordBatch batch = map.behind(packed);
      lost += Math.max(0, meta.recordsBefore() - recordsExpected) + meta.lostBefore();
      nextSequence = meta.sequence() + 1;
      recordsExpected = meta.recordsBefore() + batch.size();
      long told = 0; // calls without room on the ret_stack of which there is a record
      for (int i = 0; i < batch.size(); i++) {
        byte record = batch.kind[i];
        if (record == RecordBatch.ENTRY || record == RecordBatch.FUNCTION) {
          calls++;
          counter.hit(batch.selfPc[i]);
          told += record == RecordBatch.FUNCTION && batch.depth[i] > 0 ? 1 : 0;
        } else if (record == RecordBatch.LOST) {
          lost += Math.max(0, batch.selfPc[i]);
        }
      }
      untraced += Math.max(0, meta.overruns() - told) + meta.unhijackable();
    }
  }

  /** No cores yet. */
  public HotCores(HotCounter.Kind kind, HotSettings settings) {
    this.kind = kind;
    this.settings = settings;
  }

  /**
   * Takes a chunk of a core.
   *
   * @return false where there are too many cores to keep this one
   */
  public boolean apply(ChunkMeta meta, CoreKey key, ImageInfo image, RecordBatch batch) {
    Core core = cores.get(key);
    if (core == null) {
      if (cores.size() == MAX_CORES) {
        return false;
      }
      core = new Core(image, counter());
      cores.put(key, core);
    }
    core.apply(meta, batch);
    return true;
  }

  private HotCounter counter() {
    return kind.create(settings);
  }

  /** What the cores run. */
  public Set<ImageInfo> images() {
    return cores.values().stream().map(core -> core.image).collect(Collectors.toSet());
  }

  /** What each core called most, by core. */
  public List<HotProfile> cores() {
    return cores.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(
            entry -> {
              Core core = entry.getValue();
              return new HotProfile(
                  entry.getKey().session(),
                  entry.getKey().core(),
                  core.calls,
                  core.lost,
                  core.untraced,
                  core.counter.total(),
                  core.counter.notKept(),
                  rows(core.image, core.counter));
            })
        .toList();
  }

  /**
   * What the cores of each session called most together. Addresses of different images are
   * different rows; ratios are of the whole.
   *
   * @param summed whether all sessions are one
   */
  public List<HotProfile> merged(boolean summed) {
    Map<String, List<Core>> sessions = new TreeMap<>();
    cores.forEach(
        (key, core) ->
            sessions
                .computeIfAbsent(summed ? "" : key.session(), _ -> new ArrayList<>())
                .add(core));
    return sessions.size() <= 1
        ? List.of(merged("", List.copyOf(cores.values())))
        : sessions.entrySet().stream().map(of -> merged(of.getKey(), of.getValue())).toList();
  }

  private HotProfile merged(String session, List<Core> all) {
    Map<String, List<Core>> images =
        all.stream()
            .collect(
                Collectors.groupingBy(core -> core.image.id(), TreeMap::new, Collectors.toList()));
    List<HotCounter> merged = new ArrayList<>();
    List<HotRow> rows = new ArrayList<>();
    images.forEach(
        (_, ofImage) -> {
          HotCounter counter = counter().merge(ofImage.stream().map(core -> core.counter).toList());
          merged.add(counter);
          rows.addAll(rows(ofImage.getFirst().image, counter));
        });
    long total = merged.stream().mapToLong(HotCounter::total).sum();
    return new HotProfile(
        session,
        "",
        all.stream().mapToLong(core -> core.calls).sum(),
        all.stream().mapToLong(core -> core.lost).sum(),
        all.stream().mapToLong(core -> core.untraced).sum(),
        total,
        merged.stream().mapToLong(HotCounter::notKept).sum(),
        rows.stream().map(row -> ofWhole(row, total)).sorted(ORDER).toList());
  }

  private static final Comparator<HotRow> ORDER =
      Comparator.<HotRow>comparingLong(row -> row.count().hits())
          .reversed()
          .thenComparing(HotRow::function)
          .thenComparing(HotRow::image)
          .thenComparing(row -> row.count().address(), Long::compareUnsigned);

  private static HotRow ofWhole(HotRow row, long total) {
    HotCount c = row.count();
    return new HotRow(
        row.function(),
        row.image(),
        row.isa(),
        new HotCount(c.address(), c.hits(), HotCount.ratio(c.hits(), total)));
  }

  private List<HotRow> rows(ImageInfo image, HotCounter counter) {
    FunctionNames names = image.names();
    return counter.counts().stream()
        .map(
            count ->
                new HotRow(
                    settings.width() == 1
                        ? names.name(count.address())
                        : names.symbolPlusOffset(count.address()),
                    image.of(count.address()).name(),
                    image.isa(),
                    count.at(image.in(count.address()))))
        .toList();
  }
}
