package dev.retstack.answers.http;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.pathEnd;
import static org.apache.pekko.http.javadsl.server.Directives.pathPrefix;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.schema.wire.SchemaIds;
import dev.retstack.schema.wire.Topics;
import dev.retstack.schema.wire.Visible;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.server.PathMatcher1;
import org.apache.pekko.http.javadsl.server.PathMatcher2;
import org.apache.pekko.http.javadsl.server.PathMatchers;
import org.apache.pekko.http.javadsl.server.Route;

/**
 * The read-only part of the Confluent schema registry's HTTP API, so that any client of a registry
 * reads the published topics. Each subject has one version, the schema of this release.
 */
public final class SchemaRoutes {
  private static final ContentType.WithFixedCharset REGISTRY_JSON =
      MediaTypes.applicationWithFixedCharset("vnd.schemaregistry.v1+json", HttpCharsets.UTF_8)
          .toContentType();

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final int VERSION = 1;

  private final Map<String, Schema> subjects;

  public SchemaRoutes(Topics topics) {
    subjects = new TreeMap<>(SchemaIds.subjects(topics));
  }

  public Route routes() {
    Route schemas = pathPrefix("schemas", this::schemas);
    Route inSubjects = pathPrefix("subjects", this::subjects);
    Route config = path("config", () -> complete(json(200, config())));
    return concat(schemas, inSubjects, config);
  }

  private Route schemas() {
    Route types = path("types", () -> complete(json(200, JSON.arrayNode().add("AVRO"))));
    PathMatcher1<String> id = PathMatchers.segment("ids").slash(PathMatchers.segment());
    Route byId = path(id, (String number) -> complete(schema(number)));
    return concat(types, byId);
  }

  private Route subjects() {
    PathMatcher1<String> versions = PathMatchers.segment().slash("versions");
    PathMatcher2<String, String> version = versions.slash(PathMatchers.segment());
    Route all = pathEnd(() -> complete(json(200, names())));
    Route ofSubject = path(versions, (String subject) -> complete(versions(subject)));
    Route one =
        path(version, (String subject, String number) -> complete(version(subject, number)));
    return concat(all, ofSubject, one);
  }

  private HttpResponse schema(String id) {
    try {
      return SchemaIds.schemaById(Integer.parseInt(id))
          .map(schema -> json(200, JSON.objectNode().put("schema", schema.toString())))
          .orElseGet(() -> missing(40403, "Schema not found"));
    } catch (NumberFormatException e) {
      return missing(40403, "Schema not found");
    }
  }

  private JsonNode names() {
    var names = JSON.arrayNode();
    subjects.keySet().forEach(names::add);
    return names;
  }

  private HttpResponse versions(String subject) {
    return subjects.containsKey(subject)
        ? json(200, JSON.arrayNode().add(VERSION))
        : missing(40401, "Subject '" + subject + "' not found.");
  }

  private HttpResponse version(String subject, String version) {
    Schema schema = subjects.get(subject);
    if (schema == null) {
      return missing(40401, "Subject '" + subject + "' not found.");
    }
    if (!version.equals("latest") && !version.equals(String.valueOf(VERSION))) {
      return missing(40402, "Version " + version + " not found.");
    }
    ObjectNode found =
        JSON.objectNode()
            .put("subject", subject)
            .put("version", VERSION)
            .put("id", SchemaIds.idOf(schema))
            .put("schema", schema.toString());
    return json(200, found);
  }

  private static JsonNode config() {
    return JSON.objectNode().put("compatibilityLevel", "FULL_TRANSITIVE");
  }

  private static HttpResponse missing(int code, String message) {
    return json(404, JSON.objectNode().put("error_code", code).put("message", message));
  }

  private static HttpResponse json(int status, JsonNode body) {
    return HttpResponse.create()
        .withStatus(status)
        .withEntity(HttpEntities.create(REGISTRY_JSON, Visible.lines(body.toString())));
  }
}
