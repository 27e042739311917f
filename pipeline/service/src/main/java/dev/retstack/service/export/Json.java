package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.IOException;
import java.io.Writer;

/** How all JSON is written: as it is made, in a fixed order of fields, addresses as "0x..". */
final class Json {
  // calls nest as deep as ret_stack, each level an object and an array
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamWriteConstraints(
              StreamWriteConstraints.builder().maxNestingDepth(Integer.MAX_VALUE).build())
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .build();

  private Json() {}

  /** Something that writes one JSON value. */
  interface Value {
    void writeTo(JsonGenerator json) throws IOException;
  }

  /** Writes one value and a line end. */
  static void write(Value value, Writer out) throws IOException {
    try (JsonGenerator json = FACTORY.createGenerator(out)) {
      value.writeTo(json);
    }
    out.write('\n');
  }

  /** A 64-bit number that JavaScript would not keep: an address, or a value found in a slot. */
  static void hex(JsonGenerator json, String field, long value) throws IOException {
    json.writeStringField(field, Units.hex(value));
  }
}
