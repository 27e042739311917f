package dev.retstack.service.control;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.retstack.answers.http.BadRequestException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * A command as the body of a request, in JSON: {@code {"name": "set-filter", "arguments":
 * ["vfs_*"], "target": "isa=riscv64", "deadlineMs": 10000, "issuer": "me"}}. Only the name is
 * needed.
 *
 * @param name what to do, as {@code retstack trace} has it
 * @param arguments of it
 * @param target which cores
 * @param deadlineMs a core that cannot do it in this time refuses, in milliseconds
 * @param issuer who gives it, for the log
 */
record CommandBody(
    String name, List<String> arguments, String target, long deadlineMs, String issuer) {
  /** An answer that takes longer would end as an idle connection. */
  static final int DEADLINE_MS_MAX = 50_000;

  static final int ISSUER_LENGTH_MAX = 100;

  private static final long DEADLINE_MS = 10_000;
  private static final Set<String> FIELDS =
      Set.of("name", "arguments", "target", "deadlineMs", "issuer");
  private static final String SHAPE =
      "send an object with name, and if needed arguments (texts), target, deadlineMs and issuer";

  private static final ObjectMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(2).build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  CommandBody {
    arguments = List.copyOf(arguments);
  }

  /**
   * Reads a body.
   *
   * @throws BadRequestException with what is wrong with it
   */
  static CommandBody read(byte[] body) {
    JsonNode json;
    try {
      json = JSON.readTree(body);
    } catch (JsonProcessingException e) {
      throw new BadRequestException("the body is not JSON: " + e.getOriginalMessage(), SHAPE);
    } catch (IOException e) {
      throw new BadRequestException("the body cannot be read: " + e.getMessage(), SHAPE);
    }
    if (!json.isObject()) {
      throw new BadRequestException("the body is not a JSON object", SHAPE);
    }
    for (Iterator<String> names = json.fieldNames(); names.hasNext(); ) {
      String field = names.next();
      if (!FIELDS.contains(field)) {
        throw new BadRequestException("no field '%s' of a command".formatted(field), SHAPE);
      }
    }
    List<String> arguments = new ArrayList<>();
    JsonNode listed = json.path("arguments");
    if (!listed.isMissingNode() && !listed.isArray()) {
      throw new BadRequestException("arguments is not an array", SHAPE);
    }
    for (JsonNode one : listed) {
      if (!one.isTextual()) {
        throw new BadRequestException("an argument that is not a text: " + one, SHAPE);
      }
      arguments.add(one.textValue());
    }
    return new CommandBody(
        text(json, "name", "", Integer.MAX_VALUE),
        arguments,
        text(json, "target", "all", Integer.MAX_VALUE),
        deadline(json.path("deadlineMs")),
        text(json, "issuer", "", ISSUER_LENGTH_MAX));
  }

  private static String text(JsonNode json, String field, String otherwise, int most) {
    JsonNode value = json.path(field);
    if (value.isMissingNode()) {
      return otherwise;
    }
    if (!value.isTextual()) {
      throw new BadRequestException("%s is not a text: %s".formatted(field, value), SHAPE);
    }
    if (value.textValue().length() > most) {
      throw new BadRequestException(
          "%s of %d characters".formatted(field, value.textValue().length()),
          "use at most " + most);
    }
    return value.textValue();
  }

  private static long deadline(JsonNode value) {
    if (value.isMissingNode()) {
      return DEADLINE_MS;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < 1
        || value.longValue() > DEADLINE_MS_MAX) {
      throw new BadRequestException(
          "deadlineMs " + value,
          "use a whole number from 1 to %d; retstack trace waits longer"
              .formatted(DEADLINE_MS_MAX));
    }
    return value.longValue();
  }
}
