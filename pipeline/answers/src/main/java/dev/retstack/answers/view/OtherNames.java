package dev.retstack.answers.view;

import dev.retstack.answers.table.Document;
import dev.retstack.schema.record.FunctionName;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * The functions of an answer that have other names than the one that is shown. JSON has them once,
 * by the name that is shown, so that a page can search for them.
 */
final class OtherNames {
  private final Map<String, FunctionName> functions = new TreeMap<>();

  OtherNames add(FunctionName function) {
    if (!function.others().isEmpty()) {
      function.addTo(functions);
    }
    return this;
  }

  OtherNames addAll(Collection<FunctionName> all) {
    all.forEach(this::add);
    return this;
  }

  /** JSON: a field, where any function has another name. */
  void addTo(Document document) {
    if (!functions.isEmpty()) {
      Map<String, Object> names = new TreeMap<>();
      functions.forEach((shown, function) -> names.put(shown, function.others()));
      document.field("otherNames", names);
    }
  }
}
