package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * A program, and the same one with some of its functions in a shared object: all that is found is
 * the same, wherever that stands, also where chunks are missing.
 */
class OtherImagesPropertyTest {
  private static final List<String> IMAGES = List.of("0ff", "0bject");

  /** What of the program is in the shared object, which begins at this address of its own. */
  private static final long FROM = 0x40_0000L + 0x40 * 3 - 0x10;

  private static final long BYTES = 0x40 * 5;
  private static final long LINK = 0x1000;

  @Test
  void functionsOfASharedObjectAreFoundAsThoseOfTheProgram() {
    long[] calls = new long[2];
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          for (ModelCore core : Cores.any(random, 2, 0)) {
            check(core, random, calls);
          }
        });
    assertThat(calls).as("calls of the program, of the shared object").doesNotContain(0);
  }

  private static void check(ModelCore core, SplittableRandom random, long[] calls) {
    List<ModelChunk> chunks = core.withKeyframes(random, 1 + random.nextInt(60));
    double share = random.nextBoolean() ? 0 : random.nextDouble(0.6);
    long base = 0x7f00_0000_0000L + 0x1000L * random.nextInt(1 << 20);
    Subject plain = Subject.product();
    Subject mapped = Subject.product();
    mapped.state().image(library());
    for (int i = 0; i < chunks.size(); i++) {
      ModelChunk chunk = chunks.get(i);
      boolean isTold = i == 0 || chunk.batch().keyframe() != null;
      if (isTold && random.nextDouble() >= share) {
        plain.apply(chunk);
        mapped.apply(moved(chunk, base, i == 0));
      }
    }
    same(core, plain.state(), mapped.state());
    for (FunctionRow row : ReportBuilder.of(mapped.state()).build().functions()) {
      calls[row.imageId().equals("0bject") ? 1 : 0] += row.calls();
    }
  }

  private static ImageInfo library() {
    ImageInfo own = ModelCore.image();
    return new ImageInfo("0bject", "lib.so", own.isa(), own.traits(), SymbolTable.EMPTY);
  }

  /** The chunk of the program whose functions stand elsewhere; the first one tells where. */
  private static ModelChunk moved(ModelChunk chunk, long base, boolean first) {
    RecordBatch from = chunk.batch();
    ChunkMeta m = chunk.meta();
    RecordBatch batch = new RecordBatch(from.size() + 1);
    if (first) {
      batch.add(RecordBatch.MAP, m.firstTime(), 1, base, BYTES, LINK, 5);
    }
    batch.addAll(from, 0, from.size());
    move(batch, base);
    batch.setImages(IMAGES);
    if (from.keyframe() != null) {
      RecordBatch maps = new RecordBatch(1);
      if (!first) {
        maps.add(RecordBatch.MAP, 0, 1, base, BYTES, LINK, 5);
      }
      RecordBatch stacks = new RecordBatch(from.keyframe().records().size());
      stacks.addAll(from.keyframe().records(), 0, stacks.capacity());
      move(stacks, base);
      batch.setKeyframe(Keyframe.of(stacks).withMaps(maps));
    }
    ChunkMeta later =
        new ChunkMeta(
            m.sequence(),
            m.recordsBefore() + (first ? 0 : 1),
            m.lostBefore(),
            m.overruns(),
            m.unhijackable(),
            m.abandoned(),
            m.firstTime(),
            m.lastTime(),
            m.unit(),
            m.end(),
            m.endDetail(),
            m.task(),
            m.interrupts());
    return new ModelChunk(chunk.core(), chunk.imageId(), later, batch);
  }

  private static void move(RecordBatch batch, long base) {
    for (int i = 0; i < batch.size(); i++) {
      switch (batch.kind[i]) {
        case RecordBatch.ENTRY, RecordBatch.EXIT, RecordBatch.FUNCTION -> {
          batch.selfPc[i] = moved(batch.selfPc[i], base);
          batch.fromPc[i] = moved(batch.fromPc[i], base);
        }
        case RecordBatch.MARK -> batch.selfPc[i] = moved(batch.selfPc[i], base);
        case RecordBatch.SYS_ENTER, RecordBatch.INTERRUPT_ENTER, RecordBatch.INTERRUPT_EXIT ->
            batch.fromPc[i] = moved(batch.fromPc[i], base);
        default -> {}
      }
    }
  }

  private static long moved(long pc, long base) {
    return pc >= FROM && pc < FROM + BYTES ? pc - FROM + base : pc;
  }

  private static long back(String imageId, long pc) {
    return imageId.equals("0bject") ? pc - LINK + FROM : pc;
  }

  private static void same(ModelCore core, GraphState plain, GraphState mapped) {
    Report expected = ReportBuilder.of(plain).build();
    Report got = ReportBuilder.of(mapped).build();
    assertThat(functions(got)).isEqualTo(functions(expected));
    assertThat(edges(got)).isEqualTo(edges(expected));
    assertThat(anomalies(mapped)).isEqualTo(anomalies(plain));
    assertThat(mapped.core(core.key()).isPresent()).isEqualTo(plain.core(core.key()).isPresent());
    if (plain.core(core.key()).isPresent()) {
      CoreGraph one = plain.core(core.key()).get();
      CoreGraph two = mapped.core(core.key()).get();
      assertThat(calls(two)).isEqualTo(calls(one));
      for (Stat stat : Stat.values()) {
        boolean ofTheFirst = stat == Stat.GAP_RECORDS; // it has one record more
        if (!ofTheFirst) {
          assertThat(two.stats().get(stat)).as(stat.name()).isEqualTo(one.stats().get(stat));
        }
      }
    }
  }

  private static Set<String> functions(Report report) {
    Set<String> rows = new TreeSet<>();
    for (FunctionRow r : report.functions()) {
      rows.add(
          "%x %d %d %d %d %d %d %d"
              .formatted(
                  back(r.imageId(), r.selfPc()),
                  r.calls(),
                  r.finished(),
                  r.total(),
                  r.sum(),
                  r.self(),
                  r.min(),
                  r.max()));
    }
    return rows;
  }

  private static Set<String> edges(Report report) {
    Set<String> rows = new TreeSet<>();
    for (EdgeRow r : report.edges()) {
      rows.add(
          "%x %x %d %d %d %d"
              .formatted(
                  back(r.callerImageId(), r.callerPc()),
                  back(r.imageId(), r.calleePc()),
                  r.calls(),
                  r.finished(),
                  r.total(),
                  r.self()));
    }
    return rows;
  }

  private static List<String> anomalies(GraphState state) {
    List<String> rows = new ArrayList<>();
    for (AnomalyRow r : ReportBuilder.of(state).anomalies()) {
      rows.add(
          "%s %x %d %d".formatted(r.kind(), back(r.imageId(), r.selfPc()), r.time(), r.task()));
    }
    return rows;
  }

  private static List<String> calls(CoreGraph core) {
    List<String> rows = new ArrayList<>();
    CallTreeLog tree = core.tree();
    for (int i = 0; i < tree.size(); i++) {
      if (tree.kind(i) == TreeKind.CALL) {
        ImageInfo image = core.image();
        long pc = back(image.of(tree.selfPc(i)).id(), image.in(tree.selfPc(i)));
        rows.add("%x %d %d %s".formatted(pc, tree.enter(i), tree.exit(i), tree.ending(i)));
      }
    }
    return rows;
  }
}
