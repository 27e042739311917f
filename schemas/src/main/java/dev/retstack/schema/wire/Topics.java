package dev.retstack.schema.wire;

import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Fleet;
import dev.retstack.schema.Image;
import dev.retstack.schema.Node;
import dev.retstack.schema.Profile;
import dev.retstack.schema.Span;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.apache.avro.Schema;

/**
 * Names of all topics: {@code <prefix>.<noun>.v1}.
 *
 * @param prefix what distinguishes one installation from another on a shared cluster
 */
public record Topics(String prefix) {
  /** Prefix where the user names none. */
  public static final String DEFAULT_PREFIX = "retstack";

  /** Version of all topics; the last part of their names. */
  public static final int VERSION = 1;

  private static final Pattern PREFIX = Pattern.compile("[a-zA-Z0-9._-]{1,100}");

  public Topics {
    if (!PREFIX.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "topic prefix '" + prefix + "': use 1 to 100 of a-z A-Z 0-9 . _ -");
    }
  }

  /** The topics under {@link #DEFAULT_PREFIX}. */
  public static Topics standard() {
    return new Topics(DEFAULT_PREFIX);
  }

  /** Chunks as the cores send them; key = core. */
  public String events() {
    return name("events");
  }

  /** Images; key as {@link ImageKey} says, compacted. */
  public String images() {
    return name("images");
  }

  /** Commands to fleets; key = target. */
  public String control() {
    return name("control");
  }

  /** Answers to commands; key = command. */
  public String controlResults() {
    return name("control-results");
  }

  /** Finished calls above a threshold; key = core. */
  public String spans() {
    return name("spans");
  }

  /** Defects and losses found; key = core. */
  public String anomalies() {
    return name("anomalies");
  }

  /** Totals per function and per edge; key as {@code Profile.avsc} says, compacted. */
  public String profiles() {
    return name("profiles");
  }

  /** Refused records of {@link #events()}; key = the original key. */
  public String deadLetters() {
    return name("dead-letters");
  }

  /** Snapshots of the pipeline's own state, private to it; compacted. */
  public String state() {
    return name("state");
  }

  /** Members of the pipeline that run, and where they answer; key = group/node, compacted. */
  public String nodes() {
    return name("nodes");
  }

  /** Processes that send chunks, as long as they live; key = session/fleet, compacted. */
  public String fleets() {
    return name("fleets");
  }

  /** Every topic, in the order of the data. */
  public List<String> all() {
    return List.of(
        events(),
        images(),
        control(),
        controlResults(),
        spans(),
        anomalies(),
        profiles(),
        deadLetters(),
        state(),
        nodes(),
        fleets());
  }

  /** Schema of the values of each topic that holds Avro. */
  public Map<String, Schema> valueSchemas() {
    Map<String, Schema> schemas = new LinkedHashMap<>();
    schemas.put(events(), Chunk.getClassSchema());
    schemas.put(images(), Image.getClassSchema());
    schemas.put(control(), Control.getClassSchema());
    schemas.put(controlResults(), ControlResult.getClassSchema());
    schemas.put(spans(), Span.getClassSchema());
    schemas.put(anomalies(), Anomaly.getClassSchema());
    schemas.put(profiles(), Profile.getClassSchema());
    schemas.put(deadLetters(), DeadLetter.getClassSchema());
    schemas.put(nodes(), Node.getClassSchema());
    schemas.put(fleets(), Fleet.getClassSchema());
    return Collections.unmodifiableMap(schemas);
  }

  /** The version of a topic of this prefix that is of another one; empty for any other name. */
  public OptionalInt otherVersion(String topic) {
    int dot = topic.lastIndexOf(".v");
    if (dot < 0 || !all().contains(topic.substring(0, dot) + ".v" + VERSION)) {
      return OptionalInt.empty();
    }
    String version = topic.substring(dot + 2);
    return version.matches("[1-9][0-9]{0,8}") && !version.equals(String.valueOf(VERSION))
        ? OptionalInt.of(Integer.parseInt(version))
        : OptionalInt.empty();
  }

  private String name(String noun) {
    return prefix + "." + noun + ".v" + VERSION;
  }
}
