package dev.retstack.answers.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnknownFieldSet;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Image;
import dev.retstack.schema.SourceLine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Reads the export back with protobuf's own reader and plays it as a viewer would. */
class PerfettoExportTest {
  /** What a viewer shows of one track. */
  private static final class Played {
    final Deque<String> open = new ArrayDeque<>();
    final List<String> closed = new ArrayList<>();
    final List<String> instants = new ArrayList<>();
    final List<String> droppedBefore = new ArrayList<>();
    final Set<String> sources = new TreeSet<>();
    final Map<Long, String> told = new HashMap<>();
    long time;
    int cleared;
  }

  @Test
  void slicesBalanceAndLossesShow() throws IOException {
    Played played = play(Samples.state()).values().iterator().next();

    assertThat(played.open).isEmpty();
    assertThat(played.closed)
        .containsExactly(
            "leaf", "hop", "target", "leaf", "leaf", "thrower", "target", "main", "leaf", "hop");
    assertThat(played.instants)
        .contains("FRAME_POINTER_MISMATCH", "UNWOUND", "TAIL_CALL", "LOST", "TRUNCATED");
    assertThat(played.droppedBefore).contains("LOST");
  }

  @Test
  void openCallsEndWhereTheyWereLastSeen() throws IOException {
    Played played =
        play(States.of(Samples.script().enter("main").tick(5).enter("leaf").chunk()))
            .values()
            .iterator()
            .next();
    assertThat(played.open).isEmpty();
    assertThat(played.closed).containsExactly("leaf", "main");
  }

  @Test
  void namesAreToldAgainAboutEveryMiB() throws IOException {
    CoreScript script = Samples.script().enter("main");
    for (int i = 0; i < 40_000; i++) {
      script.tick(1_000).enter("leaf").tick(1_000).exit();
      if (script.pending() > 60_000) {
        script.chunk();
      }
    }
    CoreScript second = new CoreScript(script.image(), "s1", "core-1").enter("hop").tick(9).exit();
    Map<Long, Played> tracks = play(States.of(script.tick(1).exit().end(), second.end()));

    assertThat(tracks).hasSize(2);
    assertThat(tracks.values()).allSatisfy(played -> assertThat(played.open).isEmpty());
    assertThat(tracks.values().iterator().next().cleared).isBetween(2, 4);
  }

  /** Interned as names are, and told again with them. */
  @Test
  void slicesNameTheirSourceLines() throws IOException {
    Image image = Image.newBuilder(CoreScript.image("lined", "main", "leaf", "none")).build();
    image.setFiles(List.of("src/main.c", "lib/\u202eleaf.c"));
    image.setLines(List.of(new SourceLine(0, 0, 12), new SourceLine(1, 1, 7)));
    CoreScript script = new CoreScript(image, "s1", "core-0").enter("main");
    for (int i = 0; i < 30_000; i++) {
      script.tick(1).enter("leaf").tick(1).exit().enter("none").tick(1).exit();
      if (script.pending() > 60_000) {
        script.chunk();
      }
    }
    Played played = play(States.of(script.tick(1).exit().end())).values().iterator().next();
    assertThat(played.cleared).isGreaterThan(1);
    assertThat(played.closed).contains("none");
    assertThat(played.sources).containsExactly("leaf lib/\\u202eleaf.c:7", "main src/main.c:12");
  }

  private static Map<Long, Played> play(GraphState state) throws IOException {
    ByteArrayOutputStream trace = new ByteArrayOutputStream();
    PerfettoExport.write(
        ReportBuilder.of(state).trees(), ReportBuilder.of(state).anomalies(), false, trace);
    Map<Long, Played> tracks = new java.util.TreeMap<>();
    Map<Long, Map<Long, String>> names = new HashMap<>();
    Map<Long, Boolean> described = new HashMap<>();
    CodedInputStream in = CodedInputStream.newInstance(trace.toByteArray());
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      assertThat(tag >>> 3).isEqualTo(PerfettoFields.TRACE_PACKET);
      packet(UnknownFieldSet.parseFrom(in.readByteArray()), tracks, names, described);
    }
    return tracks;
  }

  private static void packet(
      UnknownFieldSet packet,
      Map<Long, Played> tracks,
      Map<Long, Map<Long, String>> names,
      Map<Long, Boolean> described)
      throws IOException {
    long sequence = number(packet, PerfettoFields.PACKET_SEQUENCE_ID);
    assertThat(sequence).isPositive();
    if (packet.hasField(PerfettoFields.PACKET_TRACK_DESCRIPTOR)) {
      UnknownFieldSet track = message(packet, PerfettoFields.PACKET_TRACK_DESCRIPTOR);
      described.put(number(track, PerfettoFields.TRACK_UUID), true);
      return;
    }
    boolean cleared =
        (number(packet, PerfettoFields.PACKET_SEQUENCE_FLAGS) & PerfettoFields.FLAG_STATE_CLEARED)
            != 0;
    if (cleared) {
      names.put(sequence, new HashMap<>());
    }
    if (packet.hasField(PerfettoFields.PACKET_INTERNED_DATA)) {
      UnknownFieldSet data = message(packet, PerfettoFields.PACKET_INTERNED_DATA);
      if (data.hasField(PerfettoFields.INTERNED_EVENT_NAMES)) {
        UnknownFieldSet name = message(data, PerfettoFields.INTERNED_EVENT_NAMES);
        names
            .get(sequence)
            .put(
                number(name, PerfettoFields.EVENT_NAME_IID),
                text(name, PerfettoFields.EVENT_NAME_NAME));
      }
    }
    UnknownFieldSet event = message(packet, PerfettoFields.PACKET_TRACK_EVENT);
    long uuid = number(event, PerfettoFields.EVENT_TRACK_UUID);
    assertThat(described).containsKey(uuid);
    Played played = tracks.computeIfAbsent(uuid, _ -> new Played());
    played.cleared += cleared ? 1 : 0;
    long time = number(packet, PerfettoFields.PACKET_TIMESTAMP);
    assertThat(time).isGreaterThanOrEqualTo(played.time);
    played.time = time;
    String name =
        event.hasField(PerfettoFields.EVENT_NAME_IID_REF)
            ? names.get(sequence).get(number(event, PerfettoFields.EVENT_NAME_IID_REF))
            : null;
    if (packet.hasField(PerfettoFields.PACKET_PREVIOUS_DROPPED)) {
      played.droppedBefore.add(name);
    }
    switch ((int) number(event, PerfettoFields.EVENT_TYPE)) {
      case PerfettoFields.TYPE_SLICE_BEGIN -> played.open.push(name);
      case PerfettoFields.TYPE_SLICE_END -> played.closed.add(played.open.pop());
      case PerfettoFields.TYPE_INSTANT -> played.instants.add(name);
      default -> throw new AssertionError("event type of " + event);
    }
    source(packet, event, played, cleared);
  }

  private static void source(
      UnknownFieldSet packet, UnknownFieldSet event, Played played, boolean cleared)
      throws IOException {
    if (cleared) {
      played.told.clear();
    }
    if (packet.hasField(PerfettoFields.PACKET_INTERNED_DATA)) {
      UnknownFieldSet data = message(packet, PerfettoFields.PACKET_INTERNED_DATA);
      if (data.hasField(PerfettoFields.INTERNED_SOURCES)) {
        UnknownFieldSet place = message(data, PerfettoFields.INTERNED_SOURCES);
        played.told.put(
            number(place, PerfettoFields.SOURCE_IID),
            text(place, PerfettoFields.SOURCE_FILE)
                + ":"
                + number(place, PerfettoFields.SOURCE_LINE));
      }
    }
    if (number(event, PerfettoFields.EVENT_TYPE) == PerfettoFields.TYPE_SLICE_BEGIN
        && event.hasField(PerfettoFields.EVENT_SOURCE_IID_REF)) {
      String place = played.told.get(number(event, PerfettoFields.EVENT_SOURCE_IID_REF));
      played.sources.add(played.open.peek() + " " + place);
    }
  }

  private static long number(UnknownFieldSet message, int field) {
    List<Long> values = message.getField(field).getVarintList();
    return values.isEmpty() ? 0 : values.getFirst();
  }

  private static UnknownFieldSet message(UnknownFieldSet message, int field) throws IOException {
    return UnknownFieldSet.parseFrom(message.getField(field).getLengthDelimitedList().getFirst());
  }

  private static String text(UnknownFieldSet message, int field) {
    return message.getField(field).getLengthDelimitedList().getFirst().toStringUtf8();
  }
}
