package dev.retstack.fleet.isolate;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What a child runs: one image, its cores, and how. Everything but the programs' streams, which go
 * through frames.
 *
 * @param image absolute path of the ELF file
 * @param buildId which the file must still have
 * @param fleet how the cores are run
 * @param cores in the order of their numbers
 */
record HostJob(String image, String buildId, FleetOptions fleet, List<CorePart> cores) {

  /** A {@link CoreSpec} without its image. */
  record CorePart(String name, CoreOptions options, Map<String, String> labels) {
    static CorePart of(CoreSpec spec) {
      return new CorePart(spec.name(), spec.options(), spec.labels());
    }
  }

  /** Loads the image, which must be the one that the parent has seen. */
  LoadedImage load() throws IOException {
    LoadedImage loaded = LoadedImage.load(Path.of(image));
    if (!loaded.elf().buildId().equals(buildId)) {
      throw new ElfFormatException(
          loaded.elf().name(),
          "the build-id",
          loaded.elf().buildId(),
          buildId,
          "leave the file alone while its cores run");
    }
    return loaded;
  }

  /** {@link TraceSettings} in JSON: commands that differ from the standard, with their texts. */
  private record TracePart(boolean on, Map<String, List<String>> commands) {
    static TracePart of(TraceSettings settings) {
      return new TracePart(settings.on(), Setting.allTexts(settings));
    }

    TraceSettings settings() {
      return Setting.settings(commands).withOn(on);
    }
  }

  @JsonIgnoreProperties({"stdin", "stdout", "stderr"})
  private interface NoStreams {}

  /** The form of options in JSON, where it is not that of records. */
  static Module json() {
    SimpleModule module = new SimpleModule();
    module.setMixInAnnotation(LinuxOptions.class, NoStreams.class);
    as(module, Path.class, String.class, Path::toString, Path::of);
    as(module, Duration.class, String.class, Duration::toString, Duration::parse);
    as(module, ChunkCodec.class, String.class, ChunkCodec::id, HostJob::codec);
    as(module, TraceSettings.class, TracePart.class, TracePart::of, TracePart::settings);
    return module;
  }

  private static ChunkCodec codec(String id) {
    try {
      return Codecs.byId(id);
    } catch (CorruptChunkException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** Has JSON hold values of a type in another form. */
  private static <T, F> void as(
      SimpleModule module,
      Class<T> type,
      Class<F> form,
      Function<T, F> write,
      Function<F, T> read) {
    module.addSerializer(
        new StdSerializer<>(type) {
          @Override
          public void serialize(T value, JsonGenerator out, SerializerProvider provider)
              throws IOException {
            out.writePOJO(write.apply(value));
          }
        });
    module.addDeserializer(
        type,
        new StdDeserializer<>(type) {
          @Override
          public T deserialize(JsonParser in, DeserializationContext context) throws IOException {
            return read.apply(in.readValueAs(form));
          }
        });
  }
}
