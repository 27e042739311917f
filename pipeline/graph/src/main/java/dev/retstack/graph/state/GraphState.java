package dev.retstack.graph.state;

import static java.util.stream.Collectors.toSet;

import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreSegment;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.KnownCore;
import dev.retstack.graph.calls.LinkedCalls;
import dev.retstack.graph.calls.RestingCore;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CallerPcs;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.input.OtherImages;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.pyramid.JobPyramids;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.JoinedParts;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.snapshot.StateHead;
import dev.retstack.graph.snapshot.StateLog;
import dev.retstack.graph.snapshot.StateParts;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.ProfileKey;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.RecordLinks;
import dev.retstack.schema.record.TaskName;
import java.io.DataInput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * The whole state of one partition of events, or of one replay: every core's reconstruction and
 * what the calls add up to. A pure state machine: the same chunks per core, in any cutting and any
 * order of cores, give the same result hash; so does a state that was written and read back in
 * between. Not safe for use by several threads at once.
 */
public final class GraphState {
  /** Version of the snapshots that are written, and the only one that is read. */
  public static final int VERSION = 1;

  /** Key of the part that is written with each change, and without which there is no state. */
  public static final String HEAD = StateLog.HEAD;

  /** Usual size of an image in the log of the state. */
  private static final int IMAGE_ROOM = 1 << 12;

  /** What a profile without functions takes, with what it knows of its first blocks in the log. */
  private static final int PROFILE_BYTES = 2_950;

  /** Larger cores are not tried on a copy: copying is expensive, and such cores are rare. */
  private static final int TRIAL_RECORDS = 1 << 17;

  private final GraphLimits limits;
  private final TimeRules rules;
  private final boolean byTask;
  private final StateBudget budget;
  private final Map<String, ImagePart> imageParts = new HashMap<>();
  private final StateLog log = new StateLog();
  private boolean restoring;

  private final Map<String, ImageInfo> images = new LinkedHashMap<>();
  private final OtherImages others = new OtherImages(images::get);
  private final Map<ProfileKey, CallProfile> profiles = new LinkedHashMap<>();
  private final CoreTable cores;
  private final Map<String, CallerPcs> callers = new HashMap<>();
  private final StatCounts stats = new StatCounts();
  private final RecordLinks links = new RecordLinks();
  private final LinkedCalls linked = new LinkedCalls();
  private final SessionAges ages;
  private final RefusedCores refused = new RefusedCores();
  private final CrowdedState crowded = new CrowdedState();
  private LateSymbols names = LateSymbols.NONE;
  private GraphEvents events;
  private JobPyramids pyramids;
  private boolean careful;

  /** Whether a core may begin at any chunk that has a keyframe. */
  private boolean anywhere;

  /** States whose cores are here, and whose totals are read with those here. */
  private final List<GraphState> joined = new ArrayList<>();

  public GraphState() {
    this(GraphLimits.DEFAULT);
  }

  public GraphState(GraphLimits limits) {
    this(limits, TimeRules.DEFAULT);
  }

  /** A state of other limits, in whose totals other time counts. */
  public GraphState(GraphLimits limits, TimeRules rules) {
    this(limits, rules, StateBudget.UNLIMITED);
  }

  /** A state that holds no more than a budget allows; {@link #close} gives its bytes back. */
  public GraphState(GraphLimits limits, TimeRules rules, StateBudget budget) {
    this(limits, rules, budget, false);
  }

  private GraphState(GraphLimits limits, TimeRules rules, StateBudget budget, boolean byTask) {
    this.limits = limits;
    this.ages = new SessionAges(log, limits.cores());
    this.rules = rules;
    this.budget = budget;
    this.byTask = byTask;
    this.cores =
        new CoreTable(
            budget,
            (core, account) ->
                newCore(core.key(), core.image(), core.unit(), core.profile(), account));
  }

  /**
   * A state that adds up the calls of each task for themselves. It costs time and memory per task,
   * and there is no snapshot of it.
   */
  public static GraphState byTask(GraphLimits limits, TimeRules rules) {
    return new GraphState(limits, rules, StateBudget.UNLIMITED, true);
  }

  /** Whether it adds up the calls of each task for themselves. */
  public boolean isByTask() {
    return byTask;
  }

  /** What counts in totals. */
  public TimeRules rules() {
    return rules;
  }

  /** Sets the listener that publishes spans and anomalies; null for none. */
  public void events(GraphEvents listener) {
    events = listener;
  }

  /** The calls of cores that begin from now on, and of those that have one, go into pyramids. */
  public void pyramids(JobPyramids ofCores) {
    pyramids = ofCores;
  }

  /**
   * What a core did when: a copy of its pyramid, with calls that are open, as if they ended now.
   */
  public Optional<Drawn> drawn(CoreKey key) {
    KnownCore core = cores.known(key);
    Pyramid pyramid = pyramids == null ? null : pyramids.of(key);
    if (core == null || pyramid == null) {
      return Optional.empty();
    }
    Pyramid copy = pyramid.copy();
    CoreGraph read = cores.read(core);
    read.placeOpen(copy);
    return Optional.of(new Drawn(copy, read.progress().taskNames()));
  }

  /**
   * What a core did when.
   *
   * @param tasks how the program called them last, by id
   */
  public record Drawn(Pyramid pyramid, Map<Long, TaskName> tasks) {}

  /** The core as it is kept: its image and its clock. */
  public Optional<KnownCore> known(CoreKey key) {
    return Optional.ofNullable(cores.known(key));
  }

  /** Names for images that come without; before the first image. */
  public GraphState named(LateSymbols late) {
    names = late;
    return this;
  }

  /**
   * Makes this the state of a part of a trace: a core begins with the first chunk that is taken of
   * it, and what was before is not missing, if the chunk has a keyframe.
   */
  public GraphState anywhere() {
    anywhere = true;
    return this;
  }

  /**
   * Makes an image known. Cores that run it already keep what they were begun with; their ISA,
   * traits and symbols are part of the build-id, so a second report of one id changes nothing.
   *
   * @return false where the budget has no room for it: then it is not known
   */
  public boolean image(ImageInfo announced) {
    if (!images.containsKey(announced.id())) {
      ImageInfo image = names.name(announced).among(others);
      StateBudget.Account account = open(0);
      long bytes = image.bytes();
      if (!restoring) {
        cores.makeRoom(bytes);
      }
      if ((!restoring && !budget.hasRoom(bytes)) || !account.take(bytes)) {
        stats.add(Stat.STATE_FULL, 1);
        return false;
      }
      imageParts.put(image.id(), new ImagePart(account, log.number()));
      images.put(image.id(), image);
    }
    return true;
  }

  /** Bytes that its cores, tables of functions and images have taken. */
  public long bytes() {
    long sum = 0;
    for (KnownCore core : cores.known()) {
      sum += core.account().used();
    }
    for (CallProfile profile : profiles.values()) {
      sum += profile.account().used();
    }
    for (ImagePart image : imageParts.values()) {
      sum += image.account.used();
    }
    return sum;
  }

  /** Cores that are not in memory until their next chunk comes. */
  public int resting() {
    return cores.resting();
  }

  /** Lets cores go to rest, those that were not used for longest, where the budget is crowded. */
  public void makeRoom() {
    cores.makeRoom(0);
  }

  private void restored() {
    restoring = false;
    imageParts.values().forEach(image -> image.account.lenient(false));
    profiles.values().forEach(profile -> profile.account().lenient(false));
    for (KnownCore core : cores.known()) {
      core.account().lenient(false);
      if (core instanceof CoreGraph open) {
        open.settle();
      }
    }
    cores.makeRoom(0);
  }

  private StateBudget.Account open(long promise) {
    return budget.open(promise).lenient(restoring);
  }

  /** Closes the state and gives its bytes back to the budget. */
  public void close() {
    cores.known().forEach(core -> core.account().close());
    profiles.values().forEach(profile -> profile.account().close());
    imageParts.values().forEach(image -> image.account.close());
  }

  public boolean hasImage(String imageId) {
    return images.containsKey(imageId);
  }

  public Optional<ImageInfo> findImage(String imageId) {
    return Optional.ofNullable(images.get(imageId));
  }

  /**
   * Takes a chunk of a core.
   *
   * @param batch its records, which are linked where they are not, and only read otherwise
   * @throws BrokenCoreException where it makes reconstruction fail: this state is of no use any
   *     more, unless the exception says otherwise
   */
  public ApplyResult apply(ChunkMeta meta, CoreKey key, String imageId, RecordBatch batch) {
    try {
      return take(meta, key, imageId, batch);
    } catch (RuntimeException | StackOverflowError | AssertionError e) {
      throw BrokenCoreException.of(key, meta.sequence(), e);
    }
  }

  private ApplyResult take(ChunkMeta meta, CoreKey key, String imageId, RecordBatch batch) {
    CoreGraph core = cores.use(key);
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
      if (core == null) {
        stats.add(Stat.STATE_FULL, 1);
        refused.add(key);
        return ApplyResult.NO_ROOM;
      }
      if (pyramids != null) {
        pyramids.begin(key);
      }
      if (anywhere && batch.keyframe() != null) {
        core.beginAt(meta);
      }
    } else if (!core.image().id().equals(imageId) || core.unit() != meta.unit()) {
      core.count(Stat.CONTRADICTORY_CHUNKS, 1);
      return ApplyResult.REFUSED;
    } else if (core.isBroken()) {
      core.leaveOut(meta, batch.size());
      return ApplyResult.REFUSED;
    }
    if (!batch.isLinked()) {
      links.fill(batch);
    }
    if (pyramids != null) {
      core.placeIn(pyramids.of(key));
    }
    cores.makeRoomFor(core);
    if (careful && core.progress().records() < TRIAL_RECORDS) {
      tryOnCopy(core, meta, batch);
    }
    return core.apply(meta, batch, events);
  }

  private void tryOnCopy(CoreGraph core, ChunkMeta meta, RecordBatch batch) {
    try {
      CoreGraph copy = copy(core);
      try {
        var _ = copy.apply(meta, batch, null);
      } finally {
        copy.account().close();
      }
    } catch (RuntimeException | StackOverflowError e) {
      throw BrokenCoreException.of(core.key(), meta.sequence(), e).cleanly();
    }
  }

  /**
   * Whether chunks of cores that are not large are tried on a copy of their core first. It costs
   * their time twice, and where one makes reconstruction fail the state stays of use.
   */
  public void careful(boolean tries) {
    careful = tries;
  }

  /**
   * A core takes no chunk any more: it is {@link CoreEnd#BROKEN} and says why. The core is made
   * where there is none.
   *
   * @return false where that is not possible: there is no image for it, or no room
   */
  public boolean breakCore(
      CoreKey key, String imageId, ClockUnit unit, BrokenCoreException broken) {
    CoreGraph core = cores.use(key);
    if (core == null) {
      if (!hasImage(imageId) || cores.size() >= limits.cores()) {
        return false;
      }
      core = newCore(key, images.get(imageId), unit);
      if (core == null) {
        return false;
      }
    }
    if (!core.isBroken()) {
      core.breakOff(broken);
    }
    return true;
  }

  /** Whether this core is there, and broken. */
  public boolean isBroken(CoreKey key) {
    KnownCore core = cores.known(key);
    return core != null && core.summary().end() == CoreEnd.BROKEN;
  }

  /** An empty state of the same limits and rules. */
  public GraphState blank() {
    return new GraphState(limits, rules, budget, byTask).named(names);
  }

  /**
   * An empty one in which each core adds up for itself: where one makes reconstruction fail, the
   * others are what they were.
   */
  public GraphState blankApart() {
    return byTask(limits, rules).named(names);
  }

  /**
   * Takes the cores of states of the same limits and rules, none of which is in two of them, to be
   * read together. Neither they nor this one take a chunk after it.
   *
   * @return false where the limits are such that one state would not have kept all of it; then
   *     nothing is taken
   */
  public boolean join(List<GraphState> others) {
    long count = cores.size();
    Map<ProfileKey, long[]> sums = new HashMap<>();
    for (GraphState other : others) {
      count += other.cores.size();
      other.profiles.forEach(
          (key, profile) -> {
            long[] sum = sums.computeIfAbsent(key, _ -> new long[2]);
            sum[0] += profile.functionCount();
            sum[1] += profile.edgeCount();
          });
    }
    if (count > limits.cores()
        || sums.values().stream()
            .anyMatch(sum -> sum[0] > limits.functions() || sum[1] > limits.edges())) {
      return false;
    }
    for (GraphState other : others) {
      for (KnownCore core : other.cores.known()) {
        cores.add(other.cores.read(core));
      }
      other.images.values().forEach(this::image);
      this.others.enterAll(other.others);
      stats.add(other.stats);
    }
    joined.addAll(others);
    return true;
  }

  /**
   * Begins to rebuild a core of this state from a chunk on, ahead of time and elsewhere. Safe for
   * use by several threads.
   *
   * @return empty where that chunk is not enough for it
   */
  public Optional<CoreSegment> segment(
      CoreKey key, ImageInfo image, ChunkMeta meta, RecordBatch batch) {
    return CoreSegment.begin(key, image, limits, rules, meta, batch);
  }

  /**
   * Joins a segment to its core.
   *
   * @return false where it does not continue what was taken: then its chunks must be applied
   */
  public boolean join(CoreSegment segment) {
    CoreGraph core = events == null ? cores.use(segment.key()) : null;
    return core != null && !core.isBroken() && segment.joinTo(core);
  }

  /** Records of a core behind which its tree is likely to be full, so that segments can join. */
  public long segmentsFrom() {
    return 2L * limits.treeCallsPerCore();
  }

  /** How far all cores came; none at rest is read for it. */
  public Collection<CoreSummary> summaries() {
    return cores.summaries();
  }

  /** When its sessions were heard last, and which of them are over. */
  public SessionAges ages() {
    return ages;
  }

  /** Cores that were not begun, since there was no room for them. */
  public RefusedCores refused() {
    return refused;
  }

  /**
   * Drops the sessions that are over and fully published; returns their names.
   *
   * @param waiting sessions of which chunks are still to come: they stay until then
   */
  public Set<String> forget(Supplier<Set<String>> waiting) {
    Set<String> sessions = ages.drop(cores, waiting);
    if (!sessions.isEmpty()) {
      profiles
          .entrySet()
          .removeIf(
              one -> {
                boolean gone = sessions.contains(one.getKey().session());
                if (gone) {
                  one.getValue().leave(log);
                  one.getValue().account().close();
                }
                return gone;
              });
      Set<String> used = cores.known().stream().map(core -> core.image().id()).collect(toSet());
      images.keySet().removeIf(id -> !used.contains(id) && !others.has(id));
      callers.keySet().retainAll(used);
      Set<String> unused = new HashSet<>(imageParts.keySet());
      unused.removeAll(images.keySet());
      for (String id : unused) {
        ImagePart image = imageParts.remove(id);
        image.account.close();
        log.remove(image.key(), image.written);
      }
    }
    return sessions;
  }

  /** A copy of a core that adds up for itself; its bytes are on the account of the core. */
  private CoreGraph copy(CoreGraph core) {
    StateBudget.Account account = core.account().part().lenient(true);
    account.charge(PROFILE_BYTES);
    CallProfile beside = core.profile().beside(account);
    CoreGraph copy = newCore(core.key(), core.image(), core.unit(), beside, account);
    try {
      copy.copy(core);
    } catch (RuntimeException | StackOverflowError e) {
      account.close();
      throw e;
    }
    account.lenient(false);
    return copy;
  }

  private CallProfile newProfile() {
    StateBudget.Account account = open(StateBudget.PROMISE);
    account.charge(PROFILE_BYTES);
    return new CallProfile(limits.functions(), limits.edges(), account);
  }

  /** Null where the budget has no room for one more, and for what its calls add up to. */
  private CoreGraph newCore(CoreKey key, ImageInfo image, ClockUnit unit) {
    ProfileKey session = new ProfileKey(key.session(), image.id(), unit);
    CallProfile profile = profiles.get(session);
    long promise = StateBudget.PROMISE * (profile == null ? 2 : 1);
    if (!restoring) {
      cores.makeRoom(promise);
      if (!budget.hasRoom(promise)) {
        ages.drop(crowded.leaving(cores.known(), key.session(), promise), cores);
        ages.press();
      }
      if (!budget.hasRoom(promise)) {
        return null;
      }
    }
    if (profile == null) {
      profile = newProfile();
      profile.setNumber(log.number());
      profiles.put(session, profile);
    }
    CoreGraph core = newCore(key, image, unit, profile, open(StateBudget.PROMISE));
    core.setNumber(log.number());
    cores.add(core);
    return core;
  }

  private CoreGraph newCore(
      CoreKey key,
      ImageInfo image,
      ClockUnit unit,
      CallProfile profile,
      StateBudget.Account account) {
    return new CoreGraph(
        key, image, unit, profile, linked, callers(image), limits, rules, byTask, account);
  }

  private CallerPcs callers(ImageInfo image) {
    return callers.computeIfAbsent(
        image.id(), _ -> new CallerPcs(image, imageParts.get(image.id()).account));
  }

  /** Adds to a stat that is seen outside of the chunks, such as refused or cut input. */
  public void count(Stat stat, long amount) {
    stats.add(stat, amount);
  }

  /**
   * All cores, in the order in which they were first seen. Of those at rest it is a copy that is
   * made when it is asked for: use one before the next, and not all of them together.
   */
  public Collection<CoreGraph> cores() {
    return cores.read();
  }

  /** A core, as {@link #cores()} has it. */
  public Optional<CoreGraph> core(CoreKey key) {
    return Optional.ofNullable(cores.known(key)).map(cores::read);
  }

  /** How far a core came, as {@link #summaries()} has it. */
  public Optional<CoreSummary> summary(CoreKey key) {
    return Optional.ofNullable(cores.known(key)).map(KnownCore::summary);
  }

  /** Gives a reader the totals per session, image and unit. */
  public void profiles(BiConsumer<ProfileKey, CallProfile> reader) {
    profiles.forEach(reader);
    joined.forEach(other -> other.profiles.forEach(reader));
  }

  /** Images that cores map beside their own. */
  public OtherImages others() {
    return others;
  }

  /** Known images by id. */
  public Map<String, ImageInfo> images() {
    return Collections.unmodifiableMap(images);
  }

  /** Whether it is of a trace that was cut off: less than complete, whatever its cores say. */
  public boolean isCut() {
    return stats.get(Stat.CUT_TRACES) > 0;
  }

  /** Counts that belong to no core. */
  public StatCounts stats() {
    return stats;
  }

  /** A new profile of what was read. */
  private CallProfile profile(ProfileKey key) throws IOException {
    if (!hasImage(key.imageId())) {
      throw new IOException("corrupt snapshot: totals of image " + key.imageId() + " without it");
    }
    CallProfile profile = newProfile();
    if (profiles.put(key, profile) != null) {
      throw new IOException("corrupt snapshot: totals of session " + key.session() + " twice");
    }
    profile.setNumber(log.number());
    return profile;
  }

  /** A new core, whose {@linkplain CoreGraph#writeIdentity identity} is read. */
  private CoreGraph coreOf(DataInput in) throws IOException {
    CoreKey key = new CoreKey(Fields.readText(in), Fields.readText(in));
    ImageInfo image = images.get(Fields.readText(in));
    if (image == null) {
      throw new IOException("corrupt snapshot: core " + key.core() + " without its image");
    }
    if (cores.has(key)) {
      throw new IOException("corrupt snapshot: core " + key.core() + " twice");
    }
    return newCore(key, image, Fields.readEnum(in, ClockUnit.class));
  }

  /**
   * Writes what changed since the state began, was read, or was written so last: in a log of such
   * writings the last part under each key is the state. Where it throws, the state is of no use any
   * more.
   */
  public void writeChanges(StateChanges to) throws IOException {
    write(log, to);
    cores.makeRoom(0);
  }

  /**
   * All of it in one piece, limits excepted: the parts that a new log would have now. The log of
   * the state stays as it is.
   */
  public byte[] copy() {
    JoinedParts all = new JoinedParts();
    try {
      write(log.copy(), all);
    } catch (IOException e) {
      throw new UncheckedIOException("a state that does not fit one copy", e);
    }
    return all.take();
  }

  private void write(StateLog into, StateChanges to) throws IOException {
    if (byTask) {
      throw new IllegalStateException("no snapshot of a state that adds up by task");
    }
    for (ImageInfo image : images.values()) {
      ImagePart part = imageParts.get(image.id());
      if (part.written == StateLog.NONE || into.isCopy()) {
        ByteOutput out = new ByteOutput(IMAGE_ROOM);
        image.writeTo(out);
        part.written = into.put(to, part.key(), part.written, out);
      }
    }
    for (Map.Entry<ProfileKey, CallProfile> profile : profiles.entrySet()) {
      profile.getValue().writeChanges(into, to, profile.getKey());
    }
    for (KnownCore core : cores.known()) {
      core.writeChanges(into, to);
    }
    ages.writeChanges(into, to);
    ByteOutput head = StateHead.begin(VERSION);
    head.writeByte(rules.bits());
    into.finish(to, head);
    stats.writeTo(head);
    ages.writeHeadTo(head);
    refused.writeTo(head);
    to.put(StateLog.HEAD, StateHead.end(head));
  }

  /**
   * Reads a {@link #copy}, as {@link #readFrom(Map, GraphLimits, StateBudget)} reads a log. What is
   * written next of this state goes into a log that holds the parts of the copy.
   */
  public static GraphState ofCopy(byte[] copy, GraphLimits limits, StateBudget budget)
      throws IOException {
    return readFrom(JoinedParts.of(copy), limits, budget);
  }

  /** Reads what stands in a log of {@link #writeChanges}; no names come later. */
  public static GraphState readFrom(
      Map<String, byte[]> parts, GraphLimits limits, StateBudget budget) throws IOException {
    return readFrom(parts, limits, budget, LateSymbols.NONE);
  }

  /**
   * Reads what stands in a log of {@link #writeChanges}. All of it is taken, also where it is more
   * than the budget: then nothing new is, until sessions are forgotten.
   *
   * @param parts are asked for one after the other, and more than once: a map may make a part when
   *     it is asked for it
   * @param names for images that were written without
   * @throws IOException where a part is missing, foreign, old, changed in any bit, or beyond the
   *     limits
   */
  public static GraphState readFrom(
      Map<String, byte[]> parts, GraphLimits limits, StateBudget budget, LateSymbols names)
      throws IOException {
    byte[] head = parts.get(StateLog.HEAD);
    if (head == null) {
      throw new IOException("corrupt state: %,d parts without a head".formatted(parts.size()));
    }
    ByteInput body = StateHead.body(head, VERSION);
    GraphState state =
        new GraphState(limits, TimeRules.of(body.readUnsignedByte()), budget).named(names);
    state.restoring = true;
    StateParts all = new StateParts(parts);
    state.log.readFrom(body, parts);
    for (long number : all.images()) {
      state.readImage(number, all.image(number));
    }
    for (long number : all.totals()) {
      byte[] identity = all.identity(number);
      CallProfile profile = state.profile(ProfileKey.readFrom(new ByteInput(identity)));
      profile.setNumber(number);
      profile.readParts(identity, all.functions(number), all.arcs(number));
    }
    for (long number : all.cores()) {
      byte[] packed = all.atRest(number);
      StateParts.Core read = packed == null ? all.core(number) : RestingCore.unpack(packed);
      CoreGraph core = state.coreOf(new ByteInput(read.frames()));
      core.setNumber(number);
      core.readParts(read, packed == null);
      if (packed != null) {
        String key = StateLog.core(number, StateLog.AT_REST);
        state.log.remove(key, StateLog.hash(key, packed));
      }
      core.settle();
      state.makeRoom();
    }
    state.log.resume(all.largestNumber());
    state.stats.readFrom(body);
    state.ages.readHeadFrom(body);
    state.ages.readParts(all.sessions(), all.over());
    state.refused.readFrom(body);
    if (body.remaining() > 0) {
      throw new IOException("corrupt state: the head has more than it needs");
    }
    state.restored();
    return state;
  }

  private void readImage(long number, byte[] bytes) throws IOException {
    ByteInput in = new ByteInput(bytes);
    ImageInfo info = ImageInfo.readFrom(in);
    if (in.remaining() > 0 || !image(info)) {
      throw new IOException("corrupt state: image " + info.id());
    }
    ImagePart part = new ImagePart(imageParts.get(info.id()).account, number);
    part.written = StateLog.hash(part.key(), bytes);
    imageParts.put(info.id(), part);
  }

  /** An image in the log of the state. */
  private static final class ImagePart {
    final StateBudget.Account account;
    final long number;
    long written = StateLog.NONE;

    ImagePart(StateBudget.Account account, long number) {
      this.account = account;
      this.number = number;
    }

    String key() {
      return "i/" + number;
    }
  }
}
