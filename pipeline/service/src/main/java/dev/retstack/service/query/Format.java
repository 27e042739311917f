package dev.retstack.service.query;

import java.util.Arrays;
import java.util.Locale;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.MediaTypes;

/** Forms in which an answer can be had: {@code ?format=json|csv|text}. */
enum Format {
  JSON,
  CSV,
  TEXT;

  static Format of(String name) {
    return Arrays.stream(values())
        .filter(format -> format.name().toLowerCase(Locale.ROOT).equals(name))
        .findFirst()
        .orElseThrow(
            () -> new BadRequestException("unknown format " + name, "use json, csv or text"));
  }

  ContentType.NonBinary contentType() {
    return switch (this) {
      case JSON -> ContentTypes.APPLICATION_JSON;
      case CSV -> MediaTypes.TEXT_CSV.toContentType(HttpCharsets.UTF_8);
      case TEXT -> ContentTypes.TEXT_PLAIN_UTF8;
    };
  }
}
