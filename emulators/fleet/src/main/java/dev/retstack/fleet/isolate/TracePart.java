package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.Setting;
import dev.retstack.fleet.control.TraceSettings;
import java.util.List;
import java.util.Map;

/**
 * {@link TraceSettings} of one core on their way to its process.
 *
 * @param on as there
 * @param commands what differs from the standard: names of commands and their texts
 */
record TracePart(boolean on, Map<String, List<String>> commands) {
  static TracePart of(TraceSettings settings) {
    return new TracePart(settings.on(), Setting.allTexts(settings));
  }

  TraceSettings settings() {
    return Setting.settings(commands).withOn(on);
  }
}
