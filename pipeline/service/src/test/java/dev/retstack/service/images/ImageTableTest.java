package dev.retstack.service.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.wire.Digest;
import dev.retstack.testing.Seeds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ImageTableTest {
  private static final int STEPS = 20_000;
  private static final int BYTES_MAX = 100;
  private static final long PLACES = 1 << 20;

  @Test
  void whatWasNotUsedForLongestGoesFirst() {
    ImageTable table = new ImageTable(20, PLACES);
    table.came("a", at(0), new byte[10]);
    table.came("b", at(1), new byte[10]);
    assertThat(table.find("a")).isInstanceOf(ImageTable.Held.class);
    table.came("c", at(2), new byte[5]);
    assertThat(table.find("b")).isEqualTo(new ImageTable.InTopic(at(1)));
    assertThat(table.find("a")).isInstanceOf(ImageTable.Held.class);
    assertThat(table.bytes()).isEqualTo(15);
    assertThat(table.known()).isEqualTo(3);
  }

  @Test
  void oneThatIsLargerThanTheBoundPushesNobodyOut() {
    ImageTable table = new ImageTable(20, PLACES);
    table.came("a", at(0), new byte[10]);
    table.came("huge", at(1), new byte[21]);
    assertThat(table.find("huge")).isEqualTo(new ImageTable.InTopic(at(1)));
    assertThat(table.find("a")).isInstanceOf(ImageTable.Held.class);
  }

  @Test
  void oneThatCameAnewIsNotMissingWhereItStoodBefore() {
    ImageTable table = new ImageTable(0, PLACES);
    table.came("a", at(0), new byte[10]);
    table.came("a", at(7), new byte[10]);
    table.missing("a", at(0));
    assertThat(table.find("a")).isEqualTo(new ImageTable.InTopic(at(7)));
    table.missing("a", at(7));
    assertThat(table.find("a")).isEqualTo(new ImageTable.Gone(at(7)));
    table.came("a", at(9), new byte[10]);
    assertThat(table.find("a")).isEqualTo(new ImageTable.InTopic(at(9)));
    assertThat(table.find("b")).isEqualTo(ImageTable.Unknown.INSTANCE);
  }

  @Test
  void placesThatWereNotUsedForLongestAreForgotten() {
    ImageTable table = new ImageTable(100, 3 * ImageTable.placeBytes("a"));
    assertThat(table.find("a")).isEqualTo(ImageTable.Unknown.INSTANCE);
    table.came("a", at(0), new byte[10]);
    table.came("b", at(1), new byte[10]);
    table.came("c", at(2), new byte[10]);
    assertThat(table.find("a")).isInstanceOf(ImageTable.Held.class);
    assertThat(table.find("d")).isEqualTo(ImageTable.Unknown.INSTANCE);
    table.came("d", at(3), new byte[10]);
    assertThat(table.find("a")).isInstanceOf(ImageTable.Held.class);
    assertThat(table.find("b")).isEqualTo(ImageTable.Forgotten.INSTANCE);
    assertThat(table.find("never")).isEqualTo(ImageTable.Forgotten.INSTANCE);
    assertThat(table.bytes()).isEqualTo(30);
    assertThat(table.known()).isEqualTo(3);
    assertThat(table.forgotten()).isEqualTo(1);

    table.found("b", at(1), new byte[10]);
    assertThat(table.find("b")).isInstanceOf(ImageTable.Held.class);
    assertThat(table.find("c")).isEqualTo(ImageTable.Forgotten.INSTANCE);
    byte[] anew = new byte[10];
    assertThat(table.came("b", at(9), anew)).isEqualTo(ImageTable.Came.TAKEN);
    table.found("b", at(1), new byte[10]); // a search that began before it came anew
    assertThat(((ImageTable.Held) table.find("b")).message()).isSameAs(anew);
  }

  @Test
  void theFirstContentOfABuildIdCounts() {
    ImageTable table = new ImageTable(0, 2 * ImageTable.placeBytes("a"));
    assertThat(table.came("a", at(0), new byte[10])).isEqualTo(ImageTable.Came.TAKEN);
    assertThat(table.came("a", at(1), new byte[11])).isEqualTo(ImageTable.Came.REFUSED);
    assertThat(table.find("a")).isEqualTo(new ImageTable.InTopic(at(0)));
    assertThat(table.readAgain("a", at(0), new byte[11])).isFalse();
    assertThat(table.readAgain("a", at(0), new byte[10])).isTrue();
    table.missing("a", at(0));
    assertThat(table.came("a", at(2), new byte[11])).isEqualTo(ImageTable.Came.REFUSED);
    table.came("b", at(3), new byte[10]);
    table.came("c", at(4), new byte[10]);
    assertThat(table.came("a", at(5), new byte[11])).isEqualTo(ImageTable.Came.UNSURE);
    assertThat(table.find("a")).isEqualTo(ImageTable.Forgotten.INSTANCE);
    table.found("a", at(2), new byte[10]);
    assertThat(table.came("a", at(6), new byte[11])).isEqualTo(ImageTable.Came.REFUSED);
    assertThat(table.find("a")).isEqualTo(new ImageTable.InTopic(at(2)));
  }

  @Test
  void aBuildIdThatIsLongerThanTheRoomPushesNobodyOut() {
    ImageTable table = new ImageTable(100, 3 * ImageTable.placeBytes("a"));
    table.came("a", at(0), new byte[10]);
    table.came("a".repeat(1000), at(1), new byte[10]);
    assertThat(table.find("a")).isInstanceOf(ImageTable.Held.class);
    assertThat(table.find("a".repeat(1000))).isEqualTo(ImageTable.Forgotten.INSTANCE);
    assertThat(table.bytes()).isEqualTo(10);
    assertThat(table.known()).isEqualTo(1);
  }

  /** A producer that announces images without end takes no more room than the bound. */
  @Test
  void aMillionImagesTakeTheRoomOfThoseThatFit() {
    ImageTable table = new ImageTable(1 << 10, PLACES);
    for (int i = 0; i < 1_000_000; i++) {
      table.came("image-" + i, at(i), new byte[10]);
    }
    assertThat(table.known()).isBetween(1, (int) (PLACES / ImageTable.PLACE_BYTES));
    assertThat(table.bytes()).isLessThanOrEqualTo(1 << 10);
    assertThat(table.forgotten() + table.known()).isEqualTo(1_000_000);
  }

  /** Against a list in the order of use, whatever comes in whatever order. */
  @Test
  void itIsWhatAPlainListWouldBe() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    ImageTable table = new ImageTable(BYTES_MAX, PLACES);
    List<String> used = new ArrayList<>(); // those in memory, longest ago first
    Map<String, byte[]> messages = new HashMap<>(); // the newest of each
    Map<String, ImagePlace> places = new HashMap<>();
    Set<String> gone = new HashSet<>();
    for (int step = 0; step < STEPS; step++) {
      String id = "image-" + random.nextInt(20);
      ImagePlace place = places.get(id);
      int what = random.nextInt(10);
      if (what < 3) {
        place = at(step);
        places.put(id, place);
        messages.computeIfAbsent(id, _ -> new byte[random.nextInt(BYTES_MAX + 10)]);
        gone.remove(id);
        table.came(id, place, messages.get(id));
        use(used, id, messages);
      } else if (what < 5 && place != null) {
        table.readAgain(id, place, messages.get(id));
        gone.remove(id);
        use(used, id, messages);
      } else if (what == 5 && place != null) {
        table.readAgain(id, at(step), messages.get(id)); // of a place that counts no longer
      } else if (what == 6 && place != null) {
        table.missing(id, place);
        if (!used.contains(id)) {
          gone.add(id);
        }
      } else {
        ImageTable.Lookup found = table.find(id);
        if (used.contains(id)) {
          used.remove(id);
          used.add(id);
          assertThat(((ImageTable.Held) found).message())
              .as("seed %d, step %d", seed, step)
              .isSameAs(messages.get(id));
        } else {
          assertThat(found)
              .as("seed %d, step %d", seed, step)
              .isEqualTo(
                  place == null
                      ? ImageTable.Unknown.INSTANCE
                      : gone.contains(id)
                          ? new ImageTable.Gone(place)
                          : new ImageTable.InTopic(place));
        }
      }
      assertThat(table.bytes())
          .as("seed %d, step %d", seed, step)
          .isEqualTo(bytes(used, messages))
          .isLessThanOrEqualTo(BYTES_MAX);
      assertThat(table.known()).isEqualTo(places.size());
    }
  }

  private static void use(List<String> used, String id, Map<String, byte[]> messages) {
    used.remove(id);
    if (messages.get(id).length <= BYTES_MAX) {
      used.add(id);
    }
    while (bytes(used, messages) > BYTES_MAX) {
      used.removeFirst();
    }
  }

  private static long bytes(List<String> used, Map<String, byte[]> messages) {
    return used.stream().mapToLong(id -> messages.get(id).length).sum();
  }

  private static ImagePlace at(long offset) {
    return new ImagePlace(0, offset);
  }

  /** What was used first counts, whatever the topic has first; the oldest of many gives way. */
  @Test
  void aContentThatWasUsedCountsBeforeTheFirst() {
    ImageTable table = new ImageTable(1 << 20, PLACES);
    byte[] good = {1};
    byte[] other = {2};
    table.claimed(Map.of(ImageClaims.key("a"), Digest.of(good)));
    assertThat(table.came("a", at(0), other)).isEqualTo(ImageTable.Came.REFUSED);
    assertThat(table.came("a", at(1), good)).isEqualTo(ImageTable.Came.TAKEN);
    assertThat(table.used("a")).as("it is claimed already").isEmpty();
    assertThat(table.came("b", at(2), other)).isEqualTo(ImageTable.Came.TAKEN);
    assertThat(table.used("b")).containsExactly(Map.entry(ImageClaims.key("b"), Digest.of(other)));
    assertThat(table.used("unknown")).isEmpty();
    Map<String, String> many = new LinkedHashMap<>();
    for (int i = 0; i < ImageClaims.CLAIMS_MAX; i++) {
      many.put("key " + i, Digest.of(good));
    }
    ImageTable full = new ImageTable(1 << 20, PLACES);
    full.claimed(many);
    full.came("c", at(3), good);
    assertThat(full.used("c"))
        .containsEntry(ImageClaims.key("c"), Digest.of(good))
        .containsEntry("key 0", null)
        .hasSize(2);
  }
}
