package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.coverage.FunctionCoverage;
import dev.retstack.graph.coverage.ImageCoverage;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * Coverage as JSON, a contract kept stable: {@code {hit, functions, percent, images: [{image,
 * buildId, isa, cores, hit, functions, percent, rows: [{function, address, calls}]}]}}.
 */
public final class CoverageJson {
  private CoverageJson() {}

  /** Writes all images as one object. */
  public static void write(List<ImageCoverage> images, Writer out) throws IOException {
    long hit = images.stream().mapToLong(ImageCoverage::hit).sum();
    long functions = images.stream().mapToLong(image -> image.functions().size()).sum();
    Json.write(
        json -> {
          json.writeStartObject();
          totals(json, hit, functions);
          json.writeArrayFieldStart("images");
          for (ImageCoverage image : images) {
            image(image, json);
          }
          json.writeEndArray();
          json.writeEndObject();
        },
        out);
  }

  private static void totals(JsonGenerator json, long hit, long functions) throws IOException {
    json.writeNumberField("hit", hit);
    json.writeNumberField("functions", functions);
    json.writeNumberField("percent", ImageCoverage.percent(hit, functions));
  }

  private static void image(ImageCoverage image, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("image", image.image());
    json.writeStringField("buildId", image.imageId());
    json.writeStringField("isa", image.isa());
    json.writeNumberField("cores", image.cores());
    totals(json, image.hit(), image.functions().size());
    json.writeArrayFieldStart("rows");
    for (FunctionCoverage function : image.functions()) {
      json.writeStartObject();
      json.writeStringField("function", function.name());
      Json.hex(json, "address", function.address());
      json.writeNumberField("calls", function.calls());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
