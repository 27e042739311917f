package dev.retstack.graph.snapshot;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Parts of a state, each made anew when it is asked for: all of them together are more than there
 * is memory for.
 *
 * @param <T> what a part is made of
 */
public final class LazyParts<T> extends AbstractMap<String, byte[]> {
  private final Map<String, T> sources;
  private final Function<T, byte[]> maker;

  /** Parts made of these sources, which are not copied. */
  public LazyParts(Map<String, T> sources, Function<T, byte[]> maker) {
    this.sources = sources;
    this.maker = maker;
  }

  @Override
  public byte[] get(Object key) {
    T source = sources.get(key);
    return source == null ? null : maker.apply(source);
  }

  @Override
  public boolean containsKey(Object key) {
    return sources.containsKey(key);
  }

  @Override
  public byte[] remove(Object key) {
    byte[] part = get(key);
    sources.remove(key);
    return part;
  }

  @Override
  public Set<String> keySet() {
    return sources.keySet();
  }

  @Override
  public Set<Entry<String, byte[]>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Entry<String, byte[]>> iterator() {
        return sources.entrySet().stream()
            .map(part -> Map.entry(part.getKey(), maker.apply(part.getValue())))
            .iterator();
      }

      @Override
      public int size() {
        return sources.size();
      }
    };
  }
}
