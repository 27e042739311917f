package dev.retstack.cli.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Map;

/** Walks a model of the Kubernetes API and finds fields that the API does not have. */
final class Additional {
  private static final String MODELS = "io.fabric8.kubernetes.api.model";

  private Additional() {}

  /** Fails where any part of the model has fields it does not know. */
  static void none(Object model) {
    try {
      walk(model.getClass().getSimpleName(), model);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("a model that cannot be walked", e);
    }
  }

  private static void walk(String where, Object part) throws ReflectiveOperationException {
    switch (part) {
      case null -> {}
      case Map<?, ?> map -> {
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          walk(where + "." + entry.getKey(), entry.getValue());
        }
      }
      case Collection<?> all -> {
        for (Object one : all) {
          walk(where + "[]", one);
        }
      }
      case Object model when model.getClass().getName().startsWith(MODELS) -> fields(where, model);
      default -> {}
    }
  }

  private static void fields(String where, Object model) throws ReflectiveOperationException {
    for (Method getter : model.getClass().getMethods()) {
      boolean plain =
          getter.getName().startsWith("get")
              && getter.getParameterCount() == 0
              && getter.getDeclaringClass() == model.getClass();
      if (!plain) {
        continue;
      }
      Object value = getter.invoke(model);
      if (getter.getName().equals("getAdditionalProperties")) {
        assertThat((Map<?, ?>) value).as(where + " has fields that are none").isEmpty();
      } else {
        walk(where + "." + getter.getName().substring(3), value);
      }
    }
  }
}
