package dev.retstack.fleet.loader;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The disassembler of the binutils as an independent reader of images. */
final class Objdump {
  private Objdump() {}

  /**
   * Addresses of the calls of an image's counting function, in order; null where the tool of its
   * ISA is not installed, or prints no target because the call goes through a table.
   */
  static List<Long> calls(JsonNode entry, LoadedImage image) throws Exception {
    String tool = entry.get("compiler").asText().replaceFirst("gcc .*", "objdump");
    if (image.elf().name().contains("-got") || !installed(tool)) {
      return null;
    }
    Process process =
        new ProcessBuilder(tool, "-d", image.elf().file().orElseThrow().toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    Pattern call =
        Pattern.compile(
            "^ *([0-9a-f]+):.*<\\.?%s>$"
                .formatted(Pattern.quote(entry.get("countingFunction").asText())));
    List<Long> calls = new ArrayList<>();
    try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher matcher = call.matcher(line);
        if (matcher.matches()) {
          // of auipc and jalr, the second one has the target
          long lead = image.elf().name().contains("-far") ? 4 : 0;
          calls.add(Long.parseUnsignedLong(matcher.group(1), 16) - lead);
        }
      }
    }
    if (process.waitFor() != 0) {
      throw new IOException(tool + " failed on " + image.elf().name());
    }
    return calls;
  }

  private static boolean installed(String tool) {
    for (String folder : System.getenv("PATH").split(":", -1)) {
      if (Files.isExecutable(Path.of(folder, tool))) {
        return true;
      }
    }
    return false;
  }
}
