package dev.retstack.service.images;

import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
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
   * @throws CorruptChunkException where it holds no image, or one that no state can hold
   */
  static ImageRecord of(ConsumerRecord<byte[], byte[]> record) throws CorruptChunkException {
    Image image = ConfluentFrame.decode(record.value(), Image.class);
    Chunks.check(image);
    return new ImageRecord(
        image, new ImagePlace(record.partition(), record.offset()), record.value());
  }
}
