package dev.retstack.graph.late;

import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.limits.LateLimits;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A chunk that came before an earlier one of its core, as it came. */
record HeldChunk(ChunkMeta meta, PackedRecords records) {
  /** What the name of an image takes beside its characters. */
  private static final int IMAGE_BYTES = 60;

  long sequence() {
    return meta.sequence();
  }

  /** What it costs to hold it. */
  int bytes() {
    return LateLimits.CHUNK_BYTES
        + records.payload().length
        + records.keyframe().length
        + records.images().stream().mapToInt(image -> IMAGE_BYTES + image.length()).sum()
        + 2 * meta.endDetail().length();
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(meta.sequence());
    out.writeLong(meta.recordsBefore());
    out.writeLong(meta.lostBefore());
    out.writeLong(meta.overruns());
    out.writeLong(meta.unhijackable());
    out.writeLong(meta.abandoned());
    out.writeLong(meta.firstTime());
    out.writeLong(meta.lastTime());
    Fields.writeText(out, meta.unit().name());
    Fields.writeText(out, meta.end().name());
    Fields.writeText(out, meta.endDetail());
    out.writeLong(meta.task());
    out.writeInt(meta.interrupts());
    out.writeLong(records.position());
    Fields.writeText(out, records.codec());
    out.writeInt(records.count());
    out.writeInt(records.payload().length);
    out.write(records.payload());
    out.writeInt(records.keyframeCount());
    out.writeInt(records.keyframe().length);
    out.write(records.keyframe());
    out.writeInt(records.images().size());
    for (String image : records.images()) {
      Fields.writeText(out, image);
    }
  }

  static HeldChunk readFrom(DataInput in) throws IOException {
    ChunkMeta meta =
        new ChunkMeta(
            in.readLong(),
            in.readLong(),
            in.readLong(),
            in.readLong(),
            in.readLong(),
            in.readLong(),
            in.readLong(),
            in.readLong(),
            Fields.readEnum(in, ClockUnit.class),
            Fields.readEnum(in, CoreEnd.class),
            Fields.readText(in),
            in.readLong(),
            in.readInt());
    long position = in.readLong();
    String codec = Fields.readText(in);
    int count = Fields.readCount(in, Chunks.RECORDS_MAX, "records");
    byte[] payload = new byte[Fields.readCount(in, Chunks.PAYLOAD_BYTES_MAX, "bytes of records")];
    in.readFully(payload);
    final int keyframeCount = in.readInt();
    byte[] keyframe = new byte[Fields.readCount(in, Chunks.PAYLOAD_BYTES_MAX, "bytes of frames")];
    in.readFully(keyframe);
    List<String> images = new ArrayList<>();
    for (int left = Fields.readCount(in, Chunks.IMAGES_MAX, "images"); left > 0; left--) {
      images.add(Fields.readText(in));
    }
    HeldChunk chunk =
        new HeldChunk(
            meta,
            new PackedRecords(position, codec, count, payload, keyframeCount, keyframe, images));
    chunk.check();
    return chunk;
  }

  /** Looks at all of it, so that whoever applies it finds it sound. */
  private void check() throws IOException {
    long least = Math.min(Math.min(meta.lostBefore(), meta.overruns()), meta.unhijackable());
    least = Math.min(least, meta.abandoned());
    if (Math.min(Math.min(least, meta.recordsBefore()), meta.interrupts()) < 0) {
      throw new IOException("corrupt snapshot: a negative count in chunk " + sequence());
    }
    try {
      var _ = records.unpack(new RecordBatch(0), meta);
    } catch (CorruptChunkException e) {
      throw new IOException("corrupt snapshot: chunk " + sequence() + ": " + e.getMessage(), e);
    }
  }
}
