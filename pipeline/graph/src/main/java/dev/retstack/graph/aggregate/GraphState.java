package dev.retstack.graph.aggregate;

import static java.util.stream.Collectors.toSet;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.SnapshotReader;
import dev.retstack.graph.snapshot.SnapshotWriter;
import dev.retstack.graph.snapshot.StateVersions;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.schema.codec.RecordLinks;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The whole state of one partition of events, or of one replay: every core's reconstruction and
 * what the calls add up to. A pure state machine: the same chunks per core, in any cutting and any
 * order of cores, give the same {@link Report#resultHash()}; so does a state that was written and
 * read back in between. Not safe for use by several threads at once.
 */
public final class GraphState {
  /** Snapshots that are read, and can be written: this release's, and the one before it. */
  public static final StateVersions VERSIONS = new StateVersions(10, 11);

  /** The version that knows no packed trees, no held chunks, no revisions and no late ones. */
  static final int PLAIN = 10;

  private static final int MAX_IMAGES = 1 << 20;

  private final GraphLimits limits;
  private final TimeRules rules;
  private final boolean byTask;
  private final Map<String, ImageInfo> images = new LinkedHashMap<>();
  private final Map<ProfileKey, CallProfile> profiles = new LinkedHashMap<>();
  private final Map<CoreKey, CoreGraph> cores = new LinkedHashMap<>();
  private final Map<String, CallerPcs> callers = new HashMap<>();
  private final StatCounts stats = new StatCounts();
  private final RecordLinks links = new RecordLinks();
  private final LinkedCalls linked = new LinkedCalls();
  private final LateCores late;
  private final SessionAges ages = new SessionAges();
  private GraphEvents events;
  private CoreGraph lastCore;

  public GraphState() {
    this(GraphLimits.DEFAULT);
  }

  public GraphState(GraphLimits limits) {
    this(limits, TimeRules.DEFAULT);
  }

  /** A state of other limits, in whose totals other time counts. */
  public GraphState(GraphLimits limits, TimeRules rules) {
    this(limits, rules, false);
  }

  private GraphState(GraphLimits limits, TimeRules rules, boolean byTask) {
    this.limits = limits;
    this.rules = rules;
    this.byTask = byTask;
    this.late = new LateCores(limits.late(), links, this::copy);
  }

  /**
   * A state that adds up the calls of each task for themselves. It costs time and memory per task,
   * there is no snapshot of it, and chunks held behind gaps show when it is {@link #settle()
   * settled}.
   */
  public static GraphState byTask(GraphLimits limits, TimeRules rules) {
    return new GraphState(limits, rules, true);
  }

  /** What counts in totals. */
  public TimeRules rules() {
    return rules;
  }

  /** Those who publish spans and anomalies hear of them from now on; null for none. */
  public void events(GraphEvents listener) {
    events = listener;
  }

  /**
   * Makes an image known. Cores that run it already keep what they were begun with; their ISA,
   * traits and symbols are part of the build-id, so a second report of one id changes nothing.
   */
  public void image(ImageInfo image) {
    images.putIfAbsent(image.id(), image);
  }

  public boolean hasImage(String imageId) {
    return images.containsKey(imageId);
  }

  public Optional<ImageInfo> findImage(String imageId) {
    return Optional.ofNullable(images.get(imageId));
  }

  /** Takes a chunk of a core, whose records are packed here where it has to be held. */
  public ApplyResult apply(ChunkMeta meta, CoreKey key, String imageId, RecordBatch batch) {
    return apply(meta, key, imageId, batch, () -> PackedRecords.of(batch));
  }

  /**
   * Takes a chunk of a core.
   *
   * @param batch its records, which are linked where they are not, and only read otherwise
   * @param packed the same records, asked for where the chunk has to be held
   */
  public ApplyResult apply(
      ChunkMeta meta,
      CoreKey key,
      String imageId,
      RecordBatch batch,
      Supplier<PackedRecords> packed) {
    CoreGraph core = lastCore != null && lastCore.key().equals(key) ? lastCore : cores.get(key);
    if (core == null) {
      ImageInfo image = images.get(imageId);
      if (image == null) {
        return ApplyResult.NEEDS_IMAGE;
      }
      if (cores.size() >= limits.cores()) {
        stats.add(Stat.CONTRADICTORY_CHUNKS, 1);
        return ApplyResult.REFUSED;
      }
      core = newCore(key, image, meta.unit());
    } else if (!core.image().id().equals(imageId) || core.unit() != meta.unit()) {
      core.count(Stat.CONTRADICTORY_CHUNKS, 1);
      return ApplyResult.REFUSED;
    }
    lastCore = core;
    if (!batch.isLinked()) {
      links.fill(batch);
    }
    ApplyResult result;
    if (meta.sequence() == core.progress().nextSequence() && !core.isHolding()) {
      result = core.apply(meta, batch, events) ? ApplyResult.APPLIED : ApplyResult.REFUSED;
    } else {
      result = late.take(core, meta, batch, packed, events);
    }
    late.tick(events);
    return result;
  }

  /**
   * Tells the listener what is known of the chunks that are held behind gaps, as if these were
   * losses. Chunks that come late amend it.
   */
  public void tell() {
    if (events != null && !byTask) {
      late.tell(events);
    }
  }

  /** No chunk comes any more: all gaps are losses. What is shown does not change by it. */
  public void settle() {
    late.settle(events);
  }

  /**
   * All cores at no cost: those that hold chunks behind gaps as they were told or shown last, at
   * least up to the gap.
   */
  public Collection<CoreGraph> glance() {
    return late.isEmpty() ? cores() : late.glance(cores.values());
  }

  /** Chunks that are held behind gaps. */
  public int heldChunks() {
    return late.chunks();
  }

  /** What is shown of the cores that hold chunks behind gaps. */
  public Collection<CoreGraph> holding() {
    return byTask ? List.of() : late.shown(late.holding());
  }

  /** When its sessions were heard last, and which of them are over. */
  public SessionAges ages() {
    return ages;
  }

  /** Drops the sessions that are over, of which all was told; returns their names. */
  public Set<String> forget() {
    Set<String> sessions = ages.drop(cores, late);
    if (!sessions.isEmpty()) {
      lastCore = null;
      profiles.keySet().removeIf(key -> sessions.contains(key.session()));
      Set<String> used = cores.values().stream().map(core -> core.image().id()).collect(toSet());
      images.keySet().retainAll(used);
      callers.keySet().retainAll(used);
    }
    return sessions;
  }

  /** A copy of a core that adds up for itself. */
  private CoreGraph copy(CoreGraph core) {
    CallProfile beside = core.profile().beside();
    return StateCopies.fill(newCore(core.key(), core.image(), core.unit(), beside), core);
  }

  private CallProfile newProfile() {
    return new CallProfile(limits.functions(), limits.edges());
  }

  private CoreGraph newCore(CoreKey key, ImageInfo image, ClockUnit unit) {
    CallProfile profile =
        profiles.computeIfAbsent(
            new ProfileKey(key.session(), image.id(), unit), _ -> newProfile());
    CoreGraph core = newCore(key, image, unit, profile);
    cores.put(key, core);
    return core;
  }

  private CoreGraph newCore(CoreKey key, ImageInfo image, ClockUnit unit, CallProfile profile) {
    return new CoreGraph(key, image, unit, profile, linked, callers(image), limits, rules, byTask);
  }

  private CallerPcs callers(ImageInfo image) {
    return callers.computeIfAbsent(image.id(), _ -> new CallerPcs(image.symbols(), image.sites()));
  }

  /** Adds to a stat that is seen outside of the chunks, such as refused or cut input. */
  public void count(Stat stat, long amount) {
    stats.add(stat, amount);
  }

  /**
   * All cores, in the order in which they were first seen. Of those that hold chunks behind gaps it
   * is a copy, good until the next chunk, in which the gaps are losses.
   */
  public Collection<CoreGraph> cores() {
    return late.isEmpty() || byTask
        ? Collections.unmodifiableCollection(cores.values())
        : late.shown(cores.values());
  }

  /** A core, as {@link #cores()} has it. */
  public Optional<CoreGraph> core(CoreKey key) {
    return Optional.ofNullable(cores.get(key)).map(core -> byTask ? core : late.shown(core));
  }

  /** Totals per session, image and unit. */
  public Map<ProfileKey, CallProfile> profiles() {
    return late.isEmpty() || byTask ? Collections.unmodifiableMap(profiles) : late.merged(profiles);
  }

  /** Known images by id. */
  public Map<String, ImageInfo> images() {
    return Collections.unmodifiableMap(images);
  }

  /** Counts that belong to no core. */
  public StatCounts stats() {
    return stats;
  }

  /**
   * The report over all cores.
   *
   * @throws dev.retstack.graph.report.MixedUnitsException where they count in different units
   */
  public Report report() {
    return new ReportBuilder().add(this).build();
  }

  /** The report over the cores that count in this unit. */
  public Report report(ClockUnit unit) {
    return new ReportBuilder().add(this).build(unit);
  }

  /** Call trees of all cores, by core. */
  public List<CallTree> trees() {
    return new ReportBuilder().add(this).trees();
  }

  /** Anomalies of all cores, by core, in the order in which they were found. */
  public List<AnomalyRow> anomalies() {
    return new ReportBuilder().add(this).anomalies();
  }

  /** Writes the whole state as one snapshot of the newest version, limits excepted. */
  public void writeTo(DataOutput out) throws IOException {
    writeTo(out, VERSIONS.newest());
  }

  /**
   * Writes the whole state as one snapshot of this version, for those who read no newer one.
   *
   * @param version one of {@link #VERSIONS}
   */
  public void writeTo(DataOutput out, int version) throws IOException {
    if (!VERSIONS.reads(version)) {
      throw new IllegalArgumentException(
          "snapshot of version %d: %s can be written".formatted(version, VERSIONS));
    }
    if (byTask) {
      throw new IllegalStateException("no snapshot of a state that adds up by task");
    }
    if (version == PLAIN && !late.isEmpty()) {
      StateCopies.settled(this, limits).writeTo(out, version);
      return;
    }
    SnapshotWriter snapshot = new SnapshotWriter(out, version);
    DataOutput body = snapshot.body();
    body.writeByte(rules.bits());
    body.writeInt(images.size());
    for (ImageInfo image : images.values()) {
      image.writeTo(body);
    }
    body.writeInt(profiles.size());
    for (Map.Entry<ProfileKey, CallProfile> profile : profiles.entrySet()) {
      Fields.writeText(body, profile.getKey().session());
      Fields.writeText(body, profile.getKey().imageId());
      Fields.writeText(body, profile.getKey().unit().name());
      profile.getValue().writeTo(body, version);
    }
    body.writeInt(cores.size());
    for (CoreGraph core : cores.values()) {
      core.writeIdentity(body);
      core.writeTo(body, version);
    }
    stats.writeTo(body);
    if (version > PLAIN) {
      late.writeTo(body, cores.values());
      ages.writeTo(body);
    }
    snapshot.finish();
  }

  /** Reads a snapshot under the default limits. */
  public static GraphState readFrom(DataInput in) throws IOException {
    return readFrom(in, GraphLimits.DEFAULT);
  }

  /**
   * Reads a snapshot.
   *
   * @throws dev.retstack.graph.snapshot.UnreadableSnapshotException where it is of a version that
   *     is not among {@link #VERSIONS}
   * @throws IOException where the bytes are not a snapshot, changed in any bit, cut off, or beyond
   *     the limits; memory grows only with bytes really read
   */
  public static GraphState readFrom(DataInput in, GraphLimits limits) throws IOException {
    SnapshotReader snapshot = new SnapshotReader(in, VERSIONS);
    DataInput body = snapshot.body();
    GraphState state = new GraphState(limits, TimeRules.of(body.readUnsignedByte()));
    int images = Fields.readCount(body, MAX_IMAGES, "images");
    for (int i = 0; i < images; i++) {
      state.image(ImageInfo.readFrom(body));
    }
    int profiles = Fields.readCount(body, limits.cores(), "profiles");
    for (int i = 0; i < profiles; i++) {
      ProfileKey key =
          new ProfileKey(
              Fields.readText(body), Fields.readText(body), Fields.readEnum(body, ClockUnit.class));
      CallProfile profile = state.newProfile();
      profile.readFrom(body, snapshot.version());
      state.profiles.put(key, profile);
    }
    int cores = Fields.readCount(body, limits.cores(), "cores");
    for (int i = 0; i < cores; i++) {
      CoreKey key = new CoreKey(Fields.readText(body), Fields.readText(body));
      ImageInfo image = state.images.get(Fields.readText(body));
      if (image == null) {
        throw new IOException("corrupt snapshot: core " + key.core() + " without its image");
      }
      CoreGraph core = state.newCore(key, image, Fields.readEnum(body, ClockUnit.class));
      core.readFrom(body, snapshot.version());
    }
    state.stats.readFrom(body);
    if (snapshot.version() > PLAIN) {
      state.late.readFrom(body, state.cores);
      state.ages.readFrom(body, limits.cores());
    }
    state.ages.adopt(state.cores.keySet());
    snapshot.finish();
    state.late.enforce();
    return state;
  }
}
