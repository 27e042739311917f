package dev.retstack.graph.places;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.StateChanges;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * The index of a partition over random streams of chunks: bounded, in order, and each chunk is
 * found. {@code -Dretstack.places.rounds=N} tries so many streams.
 */
class LogPlacesTest {
  private static final int ROUNDS = Integer.getInteger("retstack.places.rounds", 40);
  private static final long SEED = Long.getLong("retstack.seed", 231);

  /** Places that fit at least: one of a stream here takes no more bytes than this. */
  private static final int PLACES_MIN = CorePlaces.BLOCKS_MAX * CorePlaces.BLOCK_BYTES / 30;

  private static final class Stream {
    final SplittableRandom random;
    final CoreKey key;
    final List<Place> chunks = new ArrayList<>();
    private long offset;
    private long time;
    private long records;

    Stream(SplittableRandom random, String core) {
      this.random = random;
      this.key = new CoreKey("session", core);
    }

    Place next(int spacing) {
      offset += 1 + random.nextInt(spacing);
      long first = time + random.nextInt(1_000);
      time = first + random.nextInt(100_000);
      int count = random.nextInt(16_384);
      Place chunk = Place.of(offset, chunks.size(), records, first, time, random.nextInt(10) > 0);
      records += count;
      chunks.add(chunk);
      return chunk;
    }
  }

  /** What a log of changes holds. */
  private static final class Parts implements StateChanges {
    final Map<String, byte[]> parts = new TreeMap<>();
    int puts;

    @Override
    public void put(String key, byte[] part) {
      parts.put(key, part);
      puts++;
    }

    @Override
    public void remove(String key) {
      assertThat(parts.remove(key)).as("part %s is there", key).isNotNull();
    }
  }

  @Test
  void placesStayBoundedAndFindEachChunkOfARandomStream() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      long seed = SEED + round;
      SplittableRandom random = new SplittableRandom(seed);
      LogPlaces places = new LogPlaces(StateBudget.UNLIMITED);
      Stream stream = new Stream(random, "core");
      int many = 1 + random.nextInt(20_000);
      int spacing = 1 + random.nextInt(3_000);
      Parts log = new Parts();
      for (int i = 0; i < many; i++) {
        Place chunk = stream.next(random.nextInt(100) == 0 ? 50 * spacing : spacing);
        places.add(stream.key, chunk);
        places.add(stream.key, chunk); // it comes again: it is there already
        if (random.nextInt(500) == 0) {
          places.writeChanges(log);
        }
      }
      places.writeChanges(log);
      check("seed " + seed, places, stream);
      LogPlaces read = LogPlaces.takeFrom(new HashMap<>(log.parts), StateBudget.UNLIMITED);
      assertThat(read.of(stream.key)).as("seed %d", seed).isEqualTo(places.of(stream.key));
      assertThat(read.spread(stream.key)).isEqualTo(places.spread(stream.key));
      Place more = stream.next(spacing);
      places.add(stream.key, more);
      read.add(stream.key, more);
      assertThat(read.of(stream.key)).as("seed %d", seed).isEqualTo(places.of(stream.key));
      Parts restored = new Parts();
      restored.parts.putAll(log.parts);
      places.writeChanges(log);
      read.writeChanges(restored);
      assertThat(restored.parts.keySet()).isEqualTo(log.parts.keySet());
      log.parts.forEach(
          (key, part) -> assertThat(restored.parts.get(key)).as("seed %d", seed).isEqualTo(part));
    }
  }

  private static void check(String seed, LogPlaces places, Stream stream) {
    List<Place> found = places.of(stream.key);
    long spread = places.spread(stream.key);
    long span = stream.chunks.getLast().offset() - stream.chunks.getFirst().offset();
    assertThat(places.bytes())
        .as(seed)
        .isLessThan((CorePlaces.BLOCKS_MAX + 1L) * 2 * CorePlaces.BLOCK_BYTES);
    assertThat(spread)
        .as("%s: offsets of a place, of %d", seed, span)
        .isLessThanOrEqualTo(Math.max(CorePlaces.SPREAD_MIN, 8 * span / (PLACES_MIN - 2)));
    int at = 0;
    for (int i = 0; i < found.size(); i++) {
      Place place = found.get(i);
      List<Place> of = new ArrayList<>();
      while (at < stream.chunks.size() && stream.chunks.get(at).offset() <= place.lastOffset()) {
        of.add(stream.chunks.get(at++));
      }
      assertThat(of).as("%s: chunks of place %d", seed, i).isNotEmpty();
      assertThat(of.stream().reduce(Place::and)).as(seed).contains(place);
      assertThat(place.lastOffset() - place.offset()).as(seed).isLessThan(spread);
    }
    assertThat(at).as("%s: chunks in places", seed).isEqualTo(stream.chunks.size());
  }

  @Test
  void placesBeforeTheLogsStartMakeRoomForCloserOnes() {
    SplittableRandom random = new SplittableRandom(SEED);
    LogPlaces places = new LogPlaces(StateBudget.UNLIMITED);
    Stream stream = new Stream(random, "core");
    long kept = 1_000_000;
    long widest = 0;
    for (int i = 0; i < 400_000; i++) {
      Place chunk = stream.next(100);
      places.begins(chunk.offset() - kept);
      places.add(stream.key, chunk);
      widest = Math.max(widest, places.spread(stream.key));
    }
    assertThat(stream.chunks.getLast().offset()).isGreaterThan(15 * kept);
    assertThat(widest)
        .as("offsets of a place, where the log has %d and had 20 times as many", kept)
        .isLessThanOrEqualTo(16 * kept / PLACES_MIN);
  }

  @Test
  void aCheckpointWritesOnlyTheLastBlock() throws Exception {
    LogPlaces places = new LogPlaces(StateBudget.UNLIMITED);
    final long empty = places.bytes();
    Stream stream = new Stream(new SplittableRandom(SEED), "core");
    Parts log = new Parts();
    for (int i = 0; i < 600; i++) {
      places.add(stream.key, stream.next(1_000));
    }
    places.writeChanges(log);
    int blocks = log.parts.size();
    assertThat(blocks).isGreaterThan(3);
    log.puts = 0;
    places.writeChanges(log);
    assertThat(log.puts).as("nothing changed").isZero();
    places.add(stream.key, stream.next(1_000));
    places.writeChanges(log);
    assertThat(log.puts).isLessThanOrEqualTo(2);
    places.forget(Set.of("session"));
    places.writeChanges(log);
    assertThat(log.parts).isEmpty();
    assertThat(places.bytes()).isEqualTo(empty);
  }

  @Test
  void theBudgetBoundsAllCores() throws Exception {
    StateBudget budget = new StateBudget(4 << 20, 0);
    LogPlaces places = new LogPlaces(budget);
    SplittableRandom random = new SplittableRandom(SEED);
    List<Stream> streams = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      streams.add(new Stream(random, "core-" + i));
    }
    for (int i = 0; i < 400_000; i++) {
      Stream stream = streams.get(random.nextInt(streams.size()));
      places.add(stream.key, stream.next(2_000));
    }
    assertThat(budget.held()).isLessThanOrEqualTo(budget.limit());
    for (Stream stream : streams) {
      List<Place> found = places.of(stream.key);
      for (int i = 1; i < found.size(); i++) {
        assertThat(found.get(i).offset()).isGreaterThan(found.get(i - 1).lastOffset());
      }
      assertThat(found.getFirst().offset()).isEqualTo(stream.chunks.getFirst().offset());
      assertThat(found.getLast().lastOffset()).isEqualTo(stream.chunks.getLast().offset());
    }
    places.close();
    assertThat(budget.held()).isZero();
  }

  @Test
  void partsThatWereChangedAreRefused() throws Exception {
    LogPlaces places = new LogPlaces(StateBudget.UNLIMITED);
    Stream stream = new Stream(new SplittableRandom(SEED), "core");
    for (int i = 0; i < 300; i++) {
      places.add(stream.key, stream.next(1_000));
    }
    Parts log = new Parts();
    places.writeChanges(log);
    assertThat(log.parts).hasSizeGreaterThan(2);
    for (String key : List.copyOf(log.parts.keySet())) {
      Map<String, byte[]> fewer = new HashMap<>(log.parts);
      fewer.remove(key);
      refused(fewer);
      Map<String, byte[]> shorter = new HashMap<>(log.parts);
      byte[] part = log.parts.get(key);
      shorter.put(key, Arrays.copyOf(part, 20));
      refused(shorter);
    }
    refused(Map.of("x/one/0", new byte[0]));
    refused(Map.of("x/1", new byte[0]));
  }

  private static void refused(Map<String, byte[]> parts) {
    assertThatThrownBy(() -> LogPlaces.takeFrom(new HashMap<>(parts), StateBudget.UNLIMITED))
        .isInstanceOf(IOException.class);
  }
}
