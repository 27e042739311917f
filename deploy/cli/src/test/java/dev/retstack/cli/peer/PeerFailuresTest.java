package dev.retstack.cli.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.RetstackScript;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.house.Repository;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.record.RecordBatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Six things that uftrace 0.19 gets wrong, each with what retstack makes of it, from the recording
 * to the report. A recorder that is killed: {@code ProcessEndsTest}.
 */
class PeerFailuresTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String IMAGE = "zoo-x86_64-mcount";
  private static final int REMOVED = 500;

  @TempDir private Path dir;

  /** There: no row for the calls left, and later siblings below them. */
  @Test
  void callsThatALongjmpLeftHaveRowsAndNobodyHangsBelowThem() throws Exception {
    Path trace = record("longjmp");
    assertThat(calls(trace)).isEqualTo(countsOf("longjmp"));
    assertThat(callers(trace, "leap_leaf"))
        .contains("leap_once", "leap_loop", "leap_out")
        .doesNotContain("leap_leaf");
    String graph = ok("graph", trace.toString()).out();
    assertThat(graph).contains("/* leap_upper: UNWOUND */").contains("/* leap_out: UNWOUND */");
    assertThat(balance(trace)).as("slices begun and not ended").isZero();
  }

  /** There: the callee stands below the function that gave way to it. */
  @Test
  void whatATailCallCallsIsASiblingAndNotACallee() throws Exception {
    Path trace = record("tail");
    assertThat(calls(trace)).isEqualTo(countsOf("tail"));
    assertThat(callers(trace, "tail_second")).containsExactly("run_tail");
    assertThat(callers(trace, "tail_big_frame")).containsExactly("run_tail");
    assertThat(ok("graph", trace.toString()).out()).contains("tail_first(); /* TAIL_CALL */");
    assertThat(balance(trace)).isZero();
  }

  /** There: no word of it, and other counts. */
  @Test
  void recordsTakenOutOfTheMiddleAreCountedAndNothingIsMadeUp() throws Exception {
    Path whole = record("fib", "12");
    Path less = withoutTheMiddle(whole);
    JsonNode report = JSON.readTree(ok("report", less.toString(), "--format", "json").out());
    long records =
        JSON.readTree(ok("report", whole.toString(), "--format", "json").out())
            .get("records")
            .asLong();
    assertThat(report.get("lost").asLong()).isEqualTo(REMOVED);
    assertThat(report.get("records").asLong()).isEqualTo(records - REMOVED);
    assertThat(report.get("completeness").asDouble()).isLessThan(100);
    Map<String, Long> told = calls(less);
    calls(whole)
        .forEach(
            (name, calls) -> assertThat(told.getOrDefault(name, 0L)).isLessThanOrEqualTo(calls));
    assertThat(ok("report", less.toString()).out()).contains("GAP");
  }

  /** There: 1,023, silently. */
  @Test
  void aDepthOfTwoThousandIsTold() throws Exception {
    Path trace = record("deep", "2000");
    assertThat(calls(trace)).containsEntry("deep_down", 2_003L);
    long deepest =
        ok("graph", trace.toString())
            .out()
            .lines()
            .filter(line -> line.contains("deep_bottom") && line.contains("/* depth "))
            .mapToLong(line -> Long.parseLong(line.replaceAll(".*/\\* depth (\\d+).*", "$1")))
            .max()
            .orElseThrow();
    assertThat(deepest).as("levels, told as a number").isGreaterThan(2_000);
    assertThat(ok("report", trace.toString()).out()).doesNotContain("OVERRUNS");
  }

  /** There: nothing of it can be read. A file system of 16 KiB, in a mount namespace of its own. */
  @Test
  void aRecordingOntoAFullDiskIsReadUpToTheCutAndSaysSo() throws Exception {
    assumeTrue(
        new ProcessBuilder("bash", "-c", "unshare -rm true").start().waitFor() == 0,
        "skipped: no namespaces for users here");
    Path script = RetstackScript.write(dir.resolve("bin"));
    Files.createDirectory(dir.resolve("small"));
    String record = "retstack record --image " + IMAGE + " -o small/full.avro -- fib 29";
    String mounted =
        "mount -t tmpfs -o size=32k none small && { %s; code=$?; cp small/full.avro .; exit $code; }"
            .formatted(record);
    Path said = dir.resolve("said.txt");
    Process recorder =
        RetstackScript.line(script, dir, Map.of(), "exec unshare -rm bash -c '" + mounted + "'")
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(recorder.waitFor()).as(Files.readString(said)).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(Files.readString(said)).contains("full.avro: the disk is full");
    Ran report = ok("report", dir.resolve("full.avro").toString());
    assertThat(report.err()).contains("cut off");
    assertThat(report.out()).contains("fib");
  }

  /** There: 20 MB become 79 MB, 63 bytes an event of 16. */
  @Test
  void anExportForPerfettoIsSmallerThanTheRecordsOfAPeer() throws Exception {
    Path trace = record("w200", "1000");
    long records =
        JSON.readTree(ok("report", trace.toString(), "--format", "json").out())
            .get("records")
            .asLong();
    Path export = dir.resolve("export");
    ok("export", trace.toString(), "--format", "perfetto", "-o", export.toString());
    System.out.printf(
        "PeerFailuresTest: %d records, trace %d bytes, export %d bytes%n",
        records, Files.size(trace), Files.size(export));
    assertThat(Files.size(trace)).as("trace").isLessThan(4 * records);
    assertThat(Files.size(export)).as("export").isLessThan(20 * records);
  }

  /** One chunk becomes three, of which the second is left out. */
  private Path withoutTheMiddle(Path whole) throws Exception {
    Path less = dir.resolve("less.avro");
    try (TraceFileReader in = TraceFileReader.open(whole);
        TraceFileWriter out = TraceFileWriter.open(less)) {
      int chunks = 0;
      for (TraceEntry entry = in.next(); entry != null; entry = in.next()) {
        if (entry.getImage() != null) {
          out.write(entry.getImage());
        }
        if (entry.getChunk() != null) {
          assertThat(chunks++).as("chunks before").isZero();
          Chunk chunk = entry.getChunk();
          RecordBatch records = Chunks.decode(chunk);
          int from = (records.size() - REMOVED) / 2;
          out.write(part(chunk, records, 0, from, 0));
          out.write(part(chunk, records, from + REMOVED, records.size(), 2));
        }
      }
    }
    return less;
  }

  private static Chunk part(Chunk chunk, RecordBatch all, int from, int to, int sequence)
      throws Exception {
    RecordBatch some = new RecordBatch(to - from);
    some.addAll(all, from, to);
    Chunk.Builder part = Chunk.newBuilder(chunk).setSequence(sequence).setRecordsBefore(from);
    part.clearFirstTime();
    if (sequence == 0) {
      part.setEnd(CoreEnd.RUNNING).setEndDetail("").clearLastTime();
    }
    return Chunks.seal(part, Codecs.byId(chunk.getCodec()), some);
  }

  private Path record(String... program) throws Exception {
    Path trace = Files.createTempFile(dir, "trace", ".avro");
    List<String> line =
        new ArrayList<>(List.of("record", "--image", IMAGE, "-o", trace.toString(), "--"));
    line.addAll(List.of(program));
    ok(line.toArray(String[]::new));
    return trace;
  }

  private static Map<String, Long> calls(Path trace) throws Exception {
    Map<String, Long> calls = new TreeMap<>();
    JsonNode report = JSON.readTree(ok("report", trace.toString(), "--format", "json").out());
    for (JsonNode function : report.get("functions")) {
      calls.put(function.get("name").asText(), function.get("calls").asLong());
    }
    return calls;
  }

  private static Map<String, Long> countsOf(String program) throws Exception {
    Map<String, Long> counts = new TreeMap<>();
    Path file = Repository.root().resolve("emulators/guest/programs/" + program + ".counts");
    for (String line : Files.readAllLines(file)) {
      String[] words = line.split(" ", -1);
      counts.put(words[0], Long.valueOf(words[1]));
    }
    return counts;
  }

  /** Who stands around a function in the tree. */
  private static List<String> callers(Path trace, String function) throws Exception {
    List<String> callers = new ArrayList<>();
    JsonNode trees = JSON.readTree(ok("graph", trace.toString(), "--format", "json").out());
    trees.get(0).get("calls").forEach(call -> collect(call, function, callers));
    return callers.stream().distinct().toList();
  }

  private static void collect(JsonNode call, String function, List<String> callers) {
    for (JsonNode child : call.get("children")) {
      if (child.get("function").asText().equals(function)) {
        callers.add(call.get("function").asText());
      }
      collect(child, function, callers);
    }
  }

  /** Slices of an export for Perfetto that begin, less those that end. */
  private int balance(Path trace) throws Exception {
    Path export = dir.resolve("export");
    ok("export", trace.toString(), "--format", "perfetto", "-o", export.toString());
    int balance = 0;
    for (byte[] packet : fields(Files.readAllBytes(export), 1)) {
      for (byte[] event : fields(packet, 11)) { // TracePacket.track_event
        int type = type(event);
        balance += type == 1 ? 1 : type == 2 ? -1 : 0; // SLICE_BEGIN, SLICE_END
      }
    }
    return balance;
  }

  /** The bytes of each field with a number, of a protobuf message. */
  private static List<byte[]> fields(byte[] message, int wanted) {
    List<byte[]> found = new ArrayList<>();
    walk(
        message,
        (field, from, to) -> {
          if (field == wanted) {
            found.add(Arrays.copyOfRange(message, from, to));
          }
        });
    return found;
  }

  /** TrackEvent.type. */
  private static int type(byte[] event) {
    int[] type = {0};
    walk(event, (field, from, _) -> type[0] = field == 9 ? event[from] : type[0]);
    return type[0];
  }

  private interface Field {
    void at(int field, int from, int to);
  }

  private static void walk(byte[] message, Field each) {
    int[] at = {0};
    while (at[0] < message.length) {
      int tag = (int) varint(message, at);
      int from = at[0];
      switch (tag & 7) {
        case 0 -> varint(message, at);
        case 1 -> at[0] += Long.BYTES;
        case 2 -> {
          int length = (int) varint(message, at);
          from = at[0];
          at[0] += length;
        }
        case 5 -> at[0] += Integer.BYTES;
        default -> throw new AssertionError("wire type of tag " + tag);
      }
      each.at(tag >>> 3, from, at[0]);
    }
  }

  private static long varint(byte[] message, int[] at) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = message[at[0]++];
      value |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  private static Ran ok(String... args) {
    Ran ran = Ran.retstack(args);
    assertThat(ran.code()).as(String.join(" ", args) + "\n" + ran.err()).isEqualTo(ExitCode.OK);
    return ran;
  }
}
