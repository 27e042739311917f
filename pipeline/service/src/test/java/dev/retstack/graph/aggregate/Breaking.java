package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.GraphListener;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Predicate;

/**
 * A defect planted between reconstruction and who adds up, behind which all is the product's own:
 * where a chosen core is told of a chosen address, it throws what a defect throws.
 */
public final class Breaking implements AutoCloseable {
  /** What a defect may throw; each in turn. */
  private static final List<Class<? extends Throwable>> THROWN =
      List.of(
          NoSuchElementException.class,
          IndexOutOfBoundsException.class,
          StackOverflowError.class,
          AssertionError.class);

  private int thrown;

  private Breaking() {}

  /**
   * Breaks cores until it is closed.
   *
   * @param cores which of them
   * @param address throws where a call of this function begins
   */
  public static Breaking of(Predicate<CoreKey> cores, long address) {
    Breaking breaking = new Breaking();
    CoreGraph.between =
        (key, listener) -> cores.test(key) ? breaking.throwing(listener, address) : listener;
    return breaking;
  }

  private GraphListener throwing(GraphListener listener, long address) {
    return (GraphListener)
        Proxy.newProxyInstance(
            GraphListener.class.getClassLoader(),
            new Class<?>[] {GraphListener.class},
            (_, method, args) -> {
              if (method.getName().equals("linked")) {
                return args[1]; // one by one
              }
              if (method.getName().equals("entered") && args[3].equals(address)) {
                throw THROWN.get(thrown++ % THROWN.size()).getConstructor().newInstance();
              }
              try {
                return method.invoke(listener, args);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** How often it threw. */
  public int thrown() {
    return thrown;
  }

  @Override
  public void close() {
    CoreGraph.between = (_, listener) -> listener;
  }
}
