package dev.retstack.answers.table;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.support.Columns;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Rows that are written column by column. */
class JsonColumnsTest {
  private record Row(Optional<Long> number, Optional<String> word) {}

  private static final Table<Row> TABLE =
      new Table<Row>().number("number", Row::number).text("word", Row::word);

  private static JsonNode columns(List<Row> rows) throws IOException {
    String json = new Document().columns("rows", TABLE, rows).as(Format.JSON);
    return new ObjectMapper().readTree(json).path("rows");
  }

  @Test
  void noNumberIsChangedOnTheWay() throws IOException {
    long seed = Seeds.fresh();
    System.out.println("JsonColumnsTest: -Dretstack.seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    List<Row> rows = new ArrayList<>();
    while (rows.size() < 2_000) {
      long edge = random.nextBoolean() ? 1L << 53 : Long.MAX_VALUE;
      Optional<Long> number =
          switch (random.nextInt(5)) {
            case 0 -> Optional.empty();
            case 1 -> Optional.of(edge - random.nextInt(3));
            case 2 -> Optional.of(random.nextInt(3) - edge);
            case 3 -> Optional.of(random.nextLong());
            default -> Optional.of(random.nextLong(100));
          };
      Optional<String> word =
          random.nextBoolean() ? Optional.of("word" + random.nextInt(5)) : Optional.empty();
      for (int times = random.nextInt(1, 6); times > 0; times--) {
        rows.add(new Row(number, word));
      }
    }
    JsonNode columns = columns(rows);
    List<JsonNode> numbers = Columns.values(columns.path("numbers").path("number"));
    List<JsonNode> places = Columns.values(columns.path("words").path("word"));
    assertThat(columns.path("count").asInt()).isEqualTo(rows.size());
    assertThat(numbers).hasSameSizeAs(rows);
    assertThat(places).hasSameSizeAs(rows);
    for (int i = 0; i < rows.size(); i++) {
      Row row = rows.get(i);
      assertThat(numbers.get(i).isNull()).isEqualTo(row.number().isEmpty());
      assertThat(numbers.get(i).asLong()).isEqualTo(row.number().orElse(0L));
      assertThat(places.get(i).isNull()).isEqualTo(row.word().isEmpty());
      String word = columns.path("texts").path(places.get(i).asInt(-1)).asText();
      assertThat(word).isEqualTo(row.word().orElse(""));
    }
    assertThat(columns.path("texts")).hasSizeLessThanOrEqualTo(5);
  }

  /** JavaScript keeps whole numbers below 2^53: none beyond is written as a number. */
  @Test
  void aRunIsOneStepAndALongNumberIsAText() throws IOException {
    List<Row> rows = new ArrayList<>();
    for (long number : new long[] {0, 512, 1024, 1536, Long.MAX_VALUE, 1540, -1L << 53}) {
      rows.add(new Row(Optional.of(number), Optional.empty()));
    }
    assertThat(columns(rows).path("numbers").path("number"))
        .hasToString("[0,[512,3],\"9223372036854775807\",4,\"-9007199254740992\"]");
    assertThat(columns(rows).path("words").path("word")).hasToString("[[null,7]]");
  }
}
