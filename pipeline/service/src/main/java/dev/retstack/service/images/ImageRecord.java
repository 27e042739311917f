package dev.retstack.service.images;

import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Digest;
import dev.retstack.schema.wire.ImageKey;
import dev.retstack.schema.wire.Visible;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A record of the images topic that could be read.
 *
 * @param message its bytes, which take a fraction of what the image takes once it is unpacked
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
public record ImageRecord(Image image, ImagePlace place, byte[] message) {
  /**
   * What this record holds.
   *
   * @throws CorruptChunkException where it holds no image, or one that no state can hold, or stands
   *     under a key that is not its own: compaction would then remove another content for it
   */
  public static ImageRecord of(ConsumerRecord<byte[], byte[]> record) throws CorruptChunkException {
    Image image = ConfluentFrame.decode(record.value(), Image.class);
    Chunks.check(image);
    if (!ImageKey.isOf(record.key(), image.getBuildId(), record.value())) {
      throw new CorruptChunkException(
          "image %s has another key than its build-id and digest"
              .formatted(Visible.line(image.getBuildId())));
    }
    return new ImageRecord(
        image, new ImagePlace(record.partition(), record.offset()), record.value());
  }

  /** Digest that identifies the content. */
  public String digest() {
    return Digest.of(message);
  }
}
