package dev.retstack.graph.state;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Bytes of the heap that an object keeps: it, and all that can be reached from it. They are those
 * of a 64-bit JVM with compressed references, which a heap below 32 GiB has.
 */
final class HeapWalk {
  private static final int HEADER = 12;
  private static final int ARRAY_HEADER = 16;
  private static final int REFERENCE = 4;
  private static final int ALIGNMENT = 8;
  private static final Map<Class<?>, Integer> PRIMITIVES =
      Map.of(
          boolean.class,
          1,
          byte.class,
          1,
          short.class,
          2,
          char.class,
          2,
          int.class,
          4,
          float.class,
          4,
          long.class,
          8,
          double.class,
          8);

  private final Set<Class<?>> leftOut;
  private final Map<Class<?>, Shape> shapes = new HashMap<>();
  private final Map<Class<?>, Long> byClass = new HashMap<>();

  /** Size of an object without what it refers to, and the fields by which it does. */
  private record Shape(long bytes, List<Field> references) {}

  /**
   * A walk.
   *
   * @param leftOut classes whose objects do not count, nor what only they refer to
   */
  HeapWalk(Set<Class<?>> leftOut) {
    this.leftOut = leftOut;
  }

  long bytes(Object root) throws IllegalAccessException {
    byClass.clear();
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    ArrayDeque<Object> next = new ArrayDeque<>();
    visit(root, seen, next);
    long sum = 0;
    while (!next.isEmpty()) {
      Object one = next.pop();
      Class<?> type = one.getClass();
      long bytes;
      if (type.isArray()) {
        bytes = array(one, seen, next);
      } else {
        Shape shape = shape(type);
        bytes = shape.bytes;
        for (Field field : shape.references) {
          visit(field.get(one), seen, next);
        }
      }
      byClass.merge(type, bytes, Long::sum);
      sum += bytes;
    }
    return sum;
  }

  /** The largest parts of what was walked last. */
  Map<Class<?>, Long> byClass() {
    return byClass;
  }

  private long array(Object array, Set<Object> seen, ArrayDeque<Object> next) {
    Class<?> of = array.getClass().getComponentType();
    int length = Array.getLength(array);
    for (int i = 0; !of.isPrimitive() && i < length; i++) {
      visit(((Object[]) array)[i], seen, next);
    }
    return aligned(ARRAY_HEADER + (long) length * PRIMITIVES.getOrDefault(of, REFERENCE));
  }

  private void visit(Object one, Set<Object> seen, ArrayDeque<Object> next) {
    boolean counts =
        one != null
            && !(one instanceof Class || one instanceof Enum)
            && !leftOut.contains(one.getClass());
    if (counts && seen.add(one)) {
      next.push(one);
    }
  }

  private Shape shape(Class<?> type) {
    Shape known = shapes.get(type);
    if (known == null) {
      known = measure(type);
      shapes.put(type, known);
    }
    return known;
  }

  private static Shape measure(Class<?> type) {
    long bytes = HEADER;
    List<Field> references = new ArrayList<>();
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      for (Field field : c.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers())) {
          bytes += PRIMITIVES.getOrDefault(field.getType(), REFERENCE);
          if (!field.getType().isPrimitive()) {
            field.setAccessible(true);
            references.add(field);
          }
        }
      }
    }
    return new Shape(aligned(bytes), references);
  }

  private static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}
