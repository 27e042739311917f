package dev.retstack.answers.table;

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
   * places in texts, where each stands once. Columns are {@link Steps}.
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
          Steps steps = new Steps(json);
          for (T row : columns.rows()) {
            switch (table.value(i, row)) {
              case null -> steps.none();
              case Long number when numbers -> steps.to(number);
              case Integer number when numbers -> steps.to(number);
              case Object word when !numbers -> steps.to(place(text(word), texts));
              case Object value ->
                  throw new IllegalArgumentException("no steps for " + value.getClass());
            }
          }
          steps.end();
          json.writeEndArray();
        }
      }
      json.writeEndObject();
    }
    json.writeFieldName("texts");
    value(texts.keySet(), json);
    json.writeEndObject();
  }

  /**
   * A column of whole numbers, each as the difference to the number before, from 0 on: {@code 5}.
   * What a row does not have is null. Several times the same in turn is {@code [5, times]}. A
   * number that JavaScript would not keep is a text: {@code "9223372036854775807"}; the next
   * difference is to the number before it.
   */
  private static final class Steps {
    private static final long EXACT_MAX = (1L << 53) - 1;

    /** Fewer are as short one by one. */
    private static final int RUN = 3;

    private final JsonGenerator json;
    private long last;
    private long step;
    private boolean isNone;
    private int times;

    Steps(JsonGenerator json) {
      this.json = json;
    }

    void to(long number) throws IOException {
      if (number < -EXACT_MAX || number > EXACT_MAX) {
        end();
        json.writeString(Long.toString(number));
        return;
      }
      take(number - last, false);
      last = number;
    }

    void none() throws IOException {
      take(0, true);
    }

    private void take(long next, boolean none) throws IOException {
      if (times > 0 && (next != step || none != isNone)) {
        end();
      }
      step = next;
      isNone = none;
      times++;
    }

    /** Writes what was not written so far. */
    void end() throws IOException {
      boolean isRun = times >= RUN;
      if (isRun) {
        json.writeStartArray();
      }
      for (int i = 0; i < (isRun ? 1 : times); i++) {
        if (isNone) {
          json.writeNull();
        } else {
          json.writeNumber(step);
        }
      }
      if (isRun) {
        json.writeNumber(times);
        json.writeEndArray();
      }
      times = 0;
    }
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
