package dev.retstack.graph.report;

import dev.retstack.graph.aggregate.CallTreeLog;
import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.graph.aggregate.ImageInfo;
import dev.retstack.graph.aggregate.RecordedValues;
import dev.retstack.graph.aggregate.TreeKind;
import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.report.CallNode.Recorded;
import dev.retstack.schema.codec.Mark;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.Optional;

/** Makes the nodes of a call tree of its rows: finds names, and says what the values mean. */
final class CallNodes {
  private final CallTreeLog log;
  private final ImageInfo image;
  private final long now;
  private final Int2ObjectMap<CoreGraph.OpenRow> open;

  CallNodes(CoreGraph core) {
    this.log = core.tree();
    this.image = core.image();
    this.now = core.progress().time();
    this.open = core.openRows();
  }

  CallNode node(int row) {
    Ending ending = log.ending(row);
    long exit = log.exit(row);
    long notRun = log.notRun(row);
    long leftOut = log.leftOut(row);
    if (ending == Ending.OPEN) {
      CoreGraph.OpenRow call = open.getOrDefault(row, CoreGraph.OpenRow.UNKNOWN);
      boolean doubtful = call.lostSince() >= 0;
      ending = doubtful ? Ending.TRUNCATED : ending;
      exit = doubtful ? call.lostSince() : now;
      notRun = doubtful ? 0 : call.notRun();
      leftOut = doubtful ? 0 : call.leftOut();
    }
    return new CallNode(
        log.kind(row),
        name(row),
        log.selfPc(row),
        log.enter(row),
        exit,
        ending,
        log.deadBy(row),
        notRun,
        leftOut,
        recorded(row));
  }

  private String name(int row) {
    return switch (log.kind(row)) {
      case CALL, FUNCTION -> image.symbols().name(log.selfPc(row));
      case SYSTEM_CALL -> SystemCallRows.name(image.systemCalls(), log.selfPc(row));
      case MARK -> Mark.text(at(log.arguments(row).values(), 0));
      case LOSS -> log.loss(row).kind().name();
      case INTERRUPT -> "interrupt " + log.selfPc(row);
      case SWITCH -> image.taskName(log.selfPc(row), (int) at(log.arguments(row).values(), 1));
    };
  }

  private Recorded recorded(int row) {
    RecordedValues arguments = log.arguments(row);
    RecordedValues results = log.results(row);
    TreeKind kind = log.kind(row);
    if (kind == TreeKind.MARK) {
      LongList all = arguments.values();
      return new Recorded(
          RecordedValues.NONE,
          RecordedValues.NONE,
          image.wordBytes(),
          log.selfPc(row) == 0 ? "" : image.symbols().name(log.selfPc(row)),
          at(all, 1),
          names(all.subList(Math.min(2, all.size()), all.size())),
          Optional.empty());
    }
    if (kind == TreeKind.LOSS) {
      return new Recorded(
          RecordedValues.NONE,
          RecordedValues.NONE,
          image.wordBytes(),
          "",
          0,
          List.of(),
          Optional.of(log.loss(row)));
    }
    if (kind == TreeKind.FUNCTION) {
      String caller = image.symbols().name(at(results.values(), 0));
      return new Recorded(
          arguments,
          RecordedValues.NONE,
          image.wordBytes(),
          caller,
          0,
          List.of(),
          Optional.empty());
    }
    if (arguments.isEmpty() && results.isEmpty()) {
      return Recorded.NOTHING;
    }
    return new Recorded(arguments, results, image.wordBytes(), "", 0, List.of(), Optional.empty());
  }

  private static long at(LongList values, int index) {
    return index < values.size() ? values.getLong(index) : 0;
  }

  private List<String> names(LongList stack) {
    return stack.longStream().mapToObj(image.symbols()::name).toList();
  }
}
