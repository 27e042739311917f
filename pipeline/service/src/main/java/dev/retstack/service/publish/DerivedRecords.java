package dev.retstack.service.publish;

import static dev.retstack.graph.symbol.SymbolTable.hex;
import static dev.retstack.service.publish.PublishedRecord.text;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Span;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.metrics.PartitionMeter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;

/**
 * Turns what one partition finds into records of the published topics. They are collected while a
 * chunk is applied, until they are taken. A partition of events publishes to the partition with the
 * same number, so a core's records stay together and in order.
 */
public final class DerivedRecords implements GraphEvents {
  /** Ends the reason of a letter without the record that it names. */
  public static final String LEFT_OUT =
      "bytes none are here: too many for a letter, read them at their offset";

  /** Of a refused record that is put into its letter: the topic takes little more. */
  private static final int LETTER_BYTES_MAX = PublishedRecord.BYTES_MAX - (256 << 10);

  private final Topics topics;
  private final int partition;
  private final long threshold;
  private final ProfileRecords profiles;
  private final PartitionMeter meter;
  private List<ProducerRecord<byte[], byte[]>> gathered = new ArrayList<>();
  private ClockUnit unit = ClockUnit.UNKNOWN;
  private long chunk;
  private boolean silent;
  private int totalsRows;

  /**
   * @param spanThreshold shortest call that is published, in the core's unit; empty = none
   */
  public DerivedRecords(
      Topics topics, int partition, OptionalLong spanThreshold, PartitionMeter meter) {
    this.topics = topics;
    this.partition = partition;
    this.threshold = spanThreshold.orElse(Long.MAX_VALUE);
    this.meter = meter;
    this.profiles = new ProfileRecords(topics, partition, ProfileRecords.ROWS_MAX);
  }

  /** A state was loaded. */
  public void opened() {
    profiles.opened();
  }

  /**
   * Whether what is found from now on was published before, by a state that was lost: then it is
   * not published again.
   */
  public void silent(boolean published) {
    silent = published;
  }

  /**
   * What goes out with a checkpoint: what has gathered, and the totals that changed if it is their
   * turn.
   *
   * @param totals whether it is their turn
   * @return makes the records, of copies, so that it may be asked on another thread
   */
  public Supplier<List<ProducerRecord<byte[], byte[]>>> checkpoint(
      GraphState state, long nextOffset, boolean totals) {
    List<ProducerRecord<byte[], byte[]>> found = take();
    List<ProfileRow> changed = totals ? profiles.changed(state, nextOffset) : List.of();
    totalsRows = changed.size();
    meter.published("profiles", totalsRows);
    return () -> {
      List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(found);
      records.addAll(profiles.records(changed));
      return records;
    };
  }

  /** These sessions left the state: their published totals stay as they are. */
  public void forget(Set<String> sessions) {
    profiles.forget(sessions);
  }

  /** What has gathered since the last call, in order. */
  public List<ProducerRecord<byte[], byte[]>> take() {
    if (gathered.isEmpty()) {
      return List.of();
    }
    List<ProducerRecord<byte[], byte[]>> taken = gathered;
    gathered = new ArrayList<>();
    return taken;
  }

  /** Rows of totals that the last checkpoint has. */
  public int totalsRows() {
    return totalsRows;
  }

  /** Whether the last turn of the totals left some that changed to the next. */
  public boolean isLeft() {
    return profiles.isLeft();
  }

  /**
   * A record of events that was refused, with its own bytes. Where they leave no room for what a
   * letter says of them, it says where they stand.
   */
  public void deadLetter(ConsumerRecord<byte[], byte[]> record, String reason) {
    long headers = 0;
    for (Header header : record.headers()) {
      headers += header.key().length() + bytes(header.value()).remaining();
    }
    long key = bytes(record.key()).remaining();
    long all = 2 * key + headers + bytes(record.value()).remaining();
    boolean fits = all <= LETTER_BYTES_MAX;
    String why =
        fits ? text(reason) : "%s; of its %,d %s".formatted(text(reason), all - key, LEFT_OUT);
    DeadLetter letter =
        DeadLetter.newBuilder()
            .setTopic(record.topic())
            .setPartition(record.partition())
            .setOffset(record.offset())
            .setTimestamp(record.timestamp())
            .setReason(why)
            .setKey(bytes(fits ? record.key() : null))
            .setValue(bytes(fits ? record.value() : null))
            .build();
    ProducerRecord<byte[], byte[]> derived =
        PublishedRecord.of(topics.deadLetters(), 0, fits ? record.key() : null, letter);
    if (fits) {
      record.headers().forEach(header -> derived.headers().add(header));
    }
    add("dead-letters", derived);
  }

  @Override
  public void chunk(CoreGraph core, long sequence) {
    unit = ClockUnit.valueOf(core.unit().name());
    chunk = sequence;
  }

  @Override
  public long threshold() {
    return threshold;
  }

  @Override
  public void finished(FinishedCall call) {
    ImageInfo image = call.image().of(call.selfPc());
    ImageInfo caller = call.image().of(call.callerPc());
    Span span =
        Span.newBuilder()
            .setSession(call.core().session())
            .setCore(call.core().core())
            .setImage(image.id())
            .setIsa(image.isa())
            .setSelfpc(hex(call.image().in(call.selfPc())))
            .setFunction(text(call.image().names().name(call.selfPc())))
            .setCaller(hex(call.image().in(call.callerPc())))
            .setCallerImage(caller.id().equals(image.id()) ? "" : caller.id())
            .setDepth(call.level())
            .setEnter(call.enter())
            .setExit(call.exit())
            .setSelf(call.self())
            .setClockUnit(unit)
            .setEnding(call.ending().name())
            .setTaskId(hex(call.task()))
            .setTaskName(text(call.taskName()))
            .setInterrupt(call.interrupt())
            .setLost(call.lost())
            .setChunk(chunk)
            .build();
    add(
        "spans",
        published(topics.spans(), call.core().core(), span, call.core().session(), image.isa()));
  }

  @Override
  public void anomaly(CoreGraph core, dev.retstack.graph.check.Anomaly found) {
    AnomalyRow row = AnomalyRow.of(core, found);
    Anomaly anomaly =
        Anomaly.newBuilder()
            .setSession(row.session())
            .setCore(row.core())
            .setImage(row.imageId())
            .setIsa(row.isa())
            .setTaskId(hex(row.task()))
            .setTaskName(row.task() == 0 && row.instance() == 1 ? "" : text(row.taskName()))
            .setKind(row.kind().name())
            .setSeverity(row.severity().name())
            .setTime(row.time())
            .setClockUnit(unit)
            .setSelfpc(hex(row.selfPc()))
            .setFunction(text(row.function()))
            .setExpected(hex(row.expected()))
            .setReceived(hex(row.received()))
            .setCount(row.count())
            .setMessage(text(row.message()))
            .setStack(row.stack().stream().map(PublishedRecord::text).toList())
            .setCaller(text(row.caller()))
            .setCause(row.kind().cause())
            .setCure(row.kind().cure())
            .setChunk(chunk)
            .build();
    meter.anomaly(row.kind().name());
    add("anomalies", published(topics.anomalies(), row.core(), anomaly, row.session(), row.isa()));
  }

  private ProducerRecord<byte[], byte[]> published(
      String topic, String key, AvroRecord value, String session, String isa) {
    return PublishedRecord.of(topic, partition, key.getBytes(UTF_8), value, session, isa);
  }

  private void add(String noun, ProducerRecord<byte[], byte[]> record) {
    if (!silent) {
      gathered.add(record);
      meter.published(noun, 1);
    }
  }

  private static ByteBuffer bytes(byte[] bytes) {
    return ByteBuffer.wrap(bytes == null ? new byte[0] : bytes);
  }
}
