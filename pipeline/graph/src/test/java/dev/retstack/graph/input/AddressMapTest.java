package dev.retstack.graph.input;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A map against one that has an entry for each address. */
class AddressMapTest {
  private static final int ADDRESSES = 96;
  private static final long BASE = 0xffff_ffff_ffff_ff80L;
  private static final List<String> IMAGES = List.of("aa", "bb", "cc");

  /** What stands at an address, and by which record. */
  private record Model(int record, int image, long link) {}

  @Test
  void eachAddressIsThatOfTheLastMapping() throws IOException {
    long seed = Seeds.fresh();
    for (int run = 0; run < Integer.getInteger("retstack.seeds", 30); run++) {
      follow(seed + run);
    }
  }

  private static void follow(long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, ImageInfo> known = new HashMap<>();
    OtherImages others = new OtherImages(known::get);
    ImageInfo own =
        new ImageInfo(
                "own",
                "own",
                "isa",
                new ImageTraits(false, false, 0, 0),
                SymbolTable.EMPTY,
                Long.BYTES,
                LongList.of(),
                "")
            .among(others);
    AddressMap map = new AddressMap(others, StateBudget.UNLIMITED.open(0));
    Model[] model = new Model[ADDRESSES];
    for (int step = 0; step < 30; step++) {
      RecordBatch batch = new RecordBatch(2);
      batch.setImages(IMAGES);
      int first = random.nextInt(ADDRESSES);
      int bytes = 1 + random.nextInt(ADDRESSES - first);
      int image = random.nextInt(IMAGES.size());
      long link = random.nextInt(1000);
      boolean isMap = random.nextInt(3) > 0;
      if (isMap) {
        batch.add(RecordBatch.MAP, step, image, BASE + first, bytes, link, 5);
      } else {
        batch.add(RecordBatch.UNMAP, step, 0, BASE + first, bytes, 0, 0);
      }
      for (int i = first; i < first + bytes; i++) {
        model[i] = isMap ? new Model(step, image, link + i - first) : null;
      }
      int at = random.nextInt(ADDRESSES);
      batch.add(RecordBatch.ENTRY, step, 0, BASE + at, 7, 0, 0);
      RecordBatch behind = map.behind(batch);
      check(own, model[at], BASE + at, behind.selfPc[1], seed);
      assertThat(behind.fromPc[1]).isEqualTo(7);
      for (int i = 0; i < ADDRESSES; i++) {
        check(own, model[i], BASE + i, map.of(BASE + i), seed);
      }
      Keyframe keyframe = keyframe(model);
      assertThat(map.isAs(keyframe, IMAGES)).as("seed %d, step %d", seed, step).isTrue();
      AddressMap again = new AddressMap(others, StateBudget.UNLIMITED.open(0));
      again.begin(keyframe, IMAGES);
      assertThat(again.isAs(keyframe, IMAGES)).isTrue();
      if (keyframe.maps().size() > 0) {
        keyframe.maps().retP[random.nextInt(keyframe.maps().size())]++;
        assertThat(map.isAs(keyframe, IMAGES)).isFalse();
      }
      map = random.nextInt(4) == 0 ? copy(map, others) : map;
    }
  }

  private static void check(ImageInfo own, Model there, long address, long pc, long seed) {
    if (there == null) {
      assertThat(pc).as("seed %d", seed).isEqualTo(address);
    } else {
      assertThat(own.of(pc).id()).as("seed %d", seed).isEqualTo(IMAGES.get(there.image));
      assertThat(own.in(pc)).as("seed %d", seed).isEqualTo(there.link);
    }
  }

  private static Keyframe keyframe(Model[] model) {
    RecordBatch maps = new RecordBatch(ADDRESSES);
    for (int i = 0; i < ADDRESSES; i++) {
      if (model[i] == null) {
        continue;
      }
      if (i > 0 && model[i - 1] != null && model[i - 1].record == model[i].record) {
        maps.fromPc[maps.size() - 1]++;
      } else {
        maps.add(RecordBatch.MAP, 0, model[i].image, BASE + i, 1, model[i].link, 5);
      }
    }
    Keyframe.Builder to = new Keyframe.Builder();
    to.maps(maps);
    to.task(0, 0, 0);
    return to.build();
  }

  private static AddressMap copy(AddressMap map, OtherImages others) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    map.writeTo(new DataOutputStream(bytes));
    AddressMap copy = new AddressMap(others, StateBudget.UNLIMITED.open(0));
    copy.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    return copy;
  }
}
