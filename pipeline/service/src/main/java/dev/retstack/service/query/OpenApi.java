package dev.retstack.service.query;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.answers.http.CommandGuard;
import dev.retstack.answers.http.Endpoint;
import dev.retstack.answers.http.Parameter;
import dev.retstack.answers.question.Questions;
import dev.retstack.service.metrics.Samples;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The document of the API, OpenAPI 3.1, made from {@link Endpoint}. */
final class OpenApi {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final Pattern PLACE = Pattern.compile("\\{(\\w+)}");
  private static final String VERSION = "1.0.0";

  private static final Map<Integer, String> ERRORS =
      new TreeMap<>(
          Map.of(
              401, "this member needs a token: Authorization: Bearer TOKEN",
              400, "the question cannot be understood: the error names parameter, value and cure",
              429, "too many questions at once: ask again after Retry-After seconds",
              503, "a partition moves, or Kafka does not answer: ask again"));

  private OpenApi() {}

  /** The document, as this member serves it. */
  static String document(Collection<Endpoint> served) {
    ObjectNode paths = JSON.objectNode();
    for (Endpoint endpoint : served) {
      paths.set(
          endpoint.path(),
          JSON.objectNode().set(endpoint.isPost() ? "post" : "get", operation(endpoint)));
    }
    ObjectNode document = JSON.objectNode().put("openapi", "3.1.0");
    document
        .putObject("info")
        .put("title", "retstack pipeline")
        .put("version", VERSION)
        .put(
            "description",
            "Questions about what a member of the pipeline has reconstructed. Answers are true for"
                + " the partitions that the header "
                + Questions.PARTITIONS
                + " names.");
    document.putArray("servers").addObject().put("url", "/");
    document.set("paths", paths);
    ObjectNode components = document.putObject("components");
    components.putObject("schemas").set("Error", error());
    components
        .putObject("securitySchemes")
        .putObject("token")
        .put("type", "http")
        .put("scheme", "bearer")
        .put("description", "if the member was started with a token; health needs none");
    ArrayNode security = document.putArray("security");
    security.addObject().putArray("token");
    security.addObject(); // or nothing, where it was started without
    return document.toPrettyString() + "\n";
  }

  private static ObjectNode operation(Endpoint endpoint) {
    ObjectNode operation =
        JSON.objectNode()
            .put("operationId", endpoint.name().toLowerCase(Locale.ROOT))
            .put("summary", endpoint.summary());
    ArrayNode parameters = operation.putArray("parameters");
    Matcher place = PLACE.matcher(endpoint.path());
    while (place.find()) {
      parameters
          .addObject()
          .put("name", place.group(1))
          .put("in", "path")
          .put("required", true)
          .set("schema", JSON.objectNode().put("type", "string"));
    }
    endpoint.parameters().forEach(parameter -> parameters.add(parameter(parameter)));
    if (endpoint == Endpoint.ANOMALY_EVENTS) {
      parameters
          .addObject()
          .put("name", "Last-Event-ID")
          .put("in", "header")
          .put("description", "id of the last event that came")
          .set("schema", JSON.objectNode().put("type", "string"));
    }
    if (endpoint.isPost()) {
      command(operation, parameters);
    }
    operation.set("responses", responses(endpoint));
    return operation;
  }

  /** What a command needs beside its answer: the token of the page, and the command. */
  private static void command(ObjectNode operation, ArrayNode parameters) {
    parameters
        .addObject()
        .put("name", CommandGuard.HEADER)
        .put("in", "header")
        .put("required", true)
        .put("description", "the token that GET /control tells; Origin must be this server")
        .set("schema", JSON.objectNode().put("type", "string"));
    ObjectNode body = operation.putObject("requestBody").put("required", true);
    ObjectNode schema = body.putObject("content").putObject("application/json").putObject("schema");
    schema.put("type", "object").put("additionalProperties", false);
    schema.putArray("required").add("name");
    ObjectNode fields = schema.putObject("properties");
    for (String text : List.of("name", "target", "issuer")) {
      fields.putObject(text).put("type", "string");
    }
    fields.putObject("deadlineMs").put("type", "integer").put("minimum", 1);
    ObjectNode arguments = fields.putObject("arguments").put("type", "array");
    arguments.putObject("items").put("type", "string");
  }

  private static ObjectNode parameter(Parameter parameter) {
    ObjectNode schema = JSON.objectNode();
    if (parameter.isNumber()) {
      schema
          .put("type", "integer")
          .put("minimum", parameter.least())
          .put("maximum", parameter.most());
    } else {
      schema.put("type", "string");
      if (parameter.allowed().isEmpty()) {
        schema.put("maxLength", Parameter.TEXT_MAX);
      } else {
        parameter.allowed().forEach(schema.withArray("enum")::add);
      }
    }
    ObjectNode json =
        JSON.objectNode()
            .put("name", parameter.name())
            .put("in", "query")
            .put("description", parameter.description());
    json.set("schema", schema);
    return json;
  }

  private static ObjectNode responses(Endpoint endpoint) {
    ObjectNode responses = JSON.objectNode();
    ObjectNode ok = responses.putObject("200").put("description", endpoint.summary());
    ObjectNode content = ok.putObject("content");
    if (!endpoint.shape().isEmpty()) {
      content.putObject(jsonType(endpoint)).set("schema", schema(endpoint.shape()));
    }
    ObjectNode text = JSON.objectNode().put("type", "string");
    switch (endpoint) {
      case PARTS_OF, TRACE -> content.putObject("application/octet-stream").set("schema", text);
      case PAGES -> content.putObject("text/html").set("schema", text);
      case PAGE_FILES -> content.putObject("application/javascript").set("schema", text);
      case METRICS -> content.putObject(Samples.CONTENT_TYPE).set("schema", text);
      case ANOMALY_EVENTS, COMMANDS -> content.putObject("text/event-stream").set("schema", text);
      default -> {
        if (endpoint.isQuery()) {
          content.putObject("text/csv").set("schema", text);
          content.putObject("text/plain").set("schema", text);
        }
      }
    }
    ERRORS.forEach((status, description) -> error(responses, status, description));
    if (endpoint.parameters().contains(Parameter.CORE) && endpoint != Endpoint.PARTS_OF) {
      error(responses, 404, "no such core in the partitions that answered");
    }
    if (endpoint.parameters().contains(Parameter.FROM)) {
      error(
          responses, 410, "the log has no longer what was at that time: the error says since when");
      error(responses, 413, "the window is too large for an answer");
    }
    if (endpoint.isPost()) {
      error(
          responses,
          403,
          "this member takes no commands, or the request is not of a page of this server");
      error(responses, 413, "the command is too large");
      error(responses, 415, "the command is not application/json");
    }
    if (endpoint.path().contains("{")) {
      error(responses, 404, "no such subject, schema or file");
    }
    if (endpoint == Endpoint.DURATIONS) {
      error(responses, 409, "the calls are of several sessions: ask for one, or for their sum");
    }
    return responses;
  }

  private static String jsonType(Endpoint endpoint) {
    return switch (endpoint) {
      case SUBJECTS, VERSIONS, LATEST, SCHEMA, TYPES, CONFIG ->
          "application/vnd.schemaregistry.v1+json";
      default -> "application/json";
    };
  }

  private static void error(ObjectNode responses, int status, String description) {
    responses
        .putObject(String.valueOf(status))
        .put("description", description)
        .putObject("content")
        .putObject("application/json")
        .putObject("schema")
        .put("$ref", "#/components/schemas/Error");
  }

  private static ObjectNode error() {
    ObjectNode schema = object("{error,cure}");
    ObjectNode properties = (ObjectNode) schema.get("properties");
    properties.putObject("error").put("type", "string").put("description", "the fact, with values");
    properties.putObject("cure").put("type", "string").put("description", "what to do about it");
    return schema;
  }

  private static ObjectNode schema(String shape) {
    if (!shape.startsWith("[")) {
      return object(shape);
    }
    ObjectNode array = JSON.objectNode().put("type", "array");
    String items = shape.substring(1, shape.length() - 1);
    if (!items.isEmpty()) {
      array.set("items", object(items));
    }
    return array;
  }

  private static ObjectNode object(String shape) {
    ObjectNode object = JSON.objectNode().put("type", "object");
    ArrayNode required = object.putArray("required");
    ObjectNode properties = object.putObject("properties");
    for (String field : shape.substring(1, shape.length() - 1).split(",", -1)) {
      required.add(field);
      properties.putObject(field);
    }
    return object;
  }
}
