package dev.retstack.service.publish;

import static dev.retstack.graph.symbol.SymbolTable.hex;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.totals.CallTotals;
import dev.retstack.graph.totals.ProfileKey;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.Profile;
import dev.retstack.schema.wire.Topics;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * The totals of a function or edge when they were copied. It is immutable, so any thread may make
 * the record from it.
 *
 * @param caller null for the total of the function
 * @param offset of events up to which it counts
 */
record ProfileRow(
    ProfileKey key,
    ImageInfo image,
    Long caller,
    long selfPc,
    long calls,
    long finished,
    long total,
    long self,
    long min,
    long max,
    long offset) {

  static ProfileRow of(
      ProfileKey key,
      ImageInfo image,
      Long caller,
      long selfPc,
      CallTotals totals,
      int id,
      long offset) {
    return new ProfileRow(
        key,
        image,
        caller,
        selfPc,
        totals.calls(id),
        totals.finished(id),
        totals.total(id),
        totals.self(id),
        totals.min(id),
        totals.max(id),
        offset);
  }

  /** The row as a record of the topic. */
  ProducerRecord<byte[], byte[]> record(Topics topics, int partition) {
    byte[] name = name(partition).getBytes(UTF_8);
    Profile row = new Profile(); // a builder looks at every field twice, and there are many rows
    row.setSession(key.session());
    row.setPartition(partition);
    ImageInfo of = image.of(selfPc);
    row.setImage(of.id());
    row.setIsa(image.isa());
    row.setClockUnit(ClockUnit.valueOf(key.unit().name()));
    row.setCaller(caller == null ? null : hex(image.in(caller)));
    boolean isOne = caller == null || image.of(caller).id().equals(of.id());
    row.setCallerImage(isOne ? "" : image.of(caller).id());
    row.setSelfpc(hex(image.in(selfPc)));
    row.setFunction(PublishedRecord.text(image.names().name(selfPc)));
    row.setCalls(calls);
    row.setTotal(total);
    row.setSelf(self);
    row.setMin(min);
    row.setMax(max);
    row.setFinished(finished);
    row.setOffset(offset);
    return PublishedRecord.of(topics.profiles(), partition, name, row, key.session(), image.isa());
  }

  private String name(int partition) {
    return String.join(
        "/",
        key.session(),
        Integer.toString(partition),
        key.imageId(),
        key.unit().name(),
        caller == null ? "" : Long.toHexString(caller),
        Long.toHexString(selfPc));
  }
}
