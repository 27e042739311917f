package dev.retstack.service.table;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.IOException;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How all JSON is written: streamed, in a fixed order of fields, addresses as "0x..". */
public final class Json {
  // calls nest as deep as ret_stack, each level an object and an array
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamWriteConstraints(
              StreamWriteConstraints.builder().maxNestingDepth(Integer.MAX_VALUE).build())
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .build();

  private Json() {}

  /** Something that writes one JSON value. */
  public interface Value {
    void writeTo(JsonGenerator json) throws IOException;
  }

  /** Writes one value and a line end. */
  public static void write(Value value, Writer out) throws IOException {
    try (JsonGenerator json = FACTORY.createGenerator(out)) {
      value.writeTo(json);
    }
    out.write('\n');
  }

  /** A 64-bit number that JavaScript would not keep: an address, or a value found in a slot. */
  public static void hex(JsonGenerator json, String field, long value) throws IOException {
    json.writeStringField(field, Units.hex(value));
  }

  /** Writes the JSON of a document: one object of its fields, or the array that it is. */
  static void write(Document document, Writer out) throws IOException {
    write(
        json -> {
          if (document.isIndented()) {
            json.useDefaultPrettyPrinter();
          }
          List<Document.Field> fields = document.fields();
          if (fields.getFirst().name().isEmpty()) {
            value(fields.getFirst().value(), json);
            return;
          }
          json.writeStartObject();
          for (Document.Field field : fields) {
            json.writeFieldName(field.name());
            value(field.value(), json);
          }
          json.writeEndObject();
        },
        out);
  }

  /** Writes any value that a {@link Table} or a {@link Document} may have. */
  private static void value(Object value, JsonGenerator json) throws IOException {
    switch (value) {
      case null -> json.writeNull();
      case String text -> json.writeString(text);
      case Long number -> json.writeNumber(number);
      case Integer number -> json.writeNumber(number);
      case Double number -> json.writeNumber(number);
      case Boolean flag -> json.writeBoolean(flag);
      case byte[] bytes -> json.writeBinary(bytes);
      case Enum<?> one -> json.writeString(one.name());
      case Table.Hex(long address) -> json.writeString(Units.hex(address));
      case Table.TaskId(long task) -> json.writeString(Units.hex(task));
      case Table.Percent(double share) -> json.writeNumber(share);
      case Table.Shown(Object shown, _) -> value(shown, json);
      case Table.Rows<?> rows -> rows(rows, json);
      case Table.Columns<?> columns -> columns(columns, json);
      case Map<?, ?> fields -> {
        json.writeStartObject();
        for (Map.Entry<?, ?> field : fields.entrySet()) {
          json.writeFieldName(String.valueOf(field.getKey()));
          value(field.getValue(), json);
        }
        json.writeEndObject();
      }
      case Iterable<?> all -> {
        json.writeStartArray();
        for (Object one : all) {
          value(one, json);
        }
        json.writeEndArray();
      }
      default -> throw new IllegalArgumentException("no form for " + value.getClass());
    }
  }

  /**
   * Writes {@code {count, numbers: {name: [..]}, words: {name: [..]}, texts: [..]}}: of words the
   * places in texts, where each stands once. What a row does not have is null.
   */
  private static <T> void columns(Table.Columns<T> columns, JsonGenerator json) throws IOException {
    Map<String, Integer> texts = new LinkedHashMap<>();
    json.writeStartObject();
    json.writeNumberField("count", columns.rows().size());
    for (boolean numbers : List.of(true, false)) {
      json.writeObjectFieldStart(numbers ? "numbers" : "words");
      Table<T> table = columns.table();
      for (int i = 0; i < table.size(); i++) {
        if (table.isInJson(i) && table.isRight(i) == numbers) {
          json.writeArrayFieldStart(table.name(i));
          for (T row : columns.rows()) {
            Object value = table.value(i, row);
            value(value == null || numbers ? value : place(text(value), texts), json);
          }
          json.writeEndArray();
        }
      }
      json.writeEndObject();
    }
    json.writeFieldName("texts");
    value(texts.keySet(), json);
    json.writeEndObject();
  }

  private static int place(String text, Map<String, Integer> texts) {
    Integer place = texts.putIfAbsent(text, texts.size());
    return place == null ? texts.size() - 1 : place;
  }

  private static String text(Object value) {
    return value instanceof Table.TaskId(long task) ? Units.hex(task) : Table.words(value, ";");
  }

  private static <T> void rows(Table.Rows<T> rows, JsonGenerator json) throws IOException {
    Table<T> table = rows.table();
    json.writeStartArray();
    for (T row : rows.rows()) {
      json.writeStartObject();
      for (int i = 0; i < table.size(); i++) {
        Object value = table.isInJson(i) ? table.value(i, row) : null;
        if (value != null) {
          json.writeFieldName(table.name(i));
          value(value, json);
        }
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }
}
