package dev.retstack.machine.landing;

import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/**
 * Addresses of the tracer's that a program uses as if they were its own: it has read a hijacked
 * return address where nothing put the true one back. What it prints shows that, and what it asks
 * {@code dladdr} for.
 */
public final class SeenHandlers {
  /** Most addresses that are counted. */
  private static final int MOST = 4096;

  /** Hexadecimal digits of the shortest text that is an address. */
  private static final int DIGITS_LEAST = 6;

  private LongPredicate handlers = _ -> false;
  private final LongSet seen = new LongOpenHashSet();
  private Supplier<String> innermost = () -> "";
  private String first = "";

  /**
   * From now on programs may see them.
   *
   * @param places true for an address where hijacked returns arrive
   * @param function the innermost open call; empty where that is not known
   */
  public void watch(LongPredicate places, Supplier<String> function) {
    handlers = places;
    innermost = function;
  }

  /** A program uses an address. */
  public void used(String how, long address) {
    boolean isOurs = handlers.test(address) || handlers.test(address + 1); // in the call, or behind
    if (isOurs && seen.size() < MOST && seen.add(address) && seen.size() == 1) {
      String below = innermost.get();
      first = below.isEmpty() ? how : how + " below " + below;
    }
  }

  /** A stream to {@code printed} whose text is searched. */
  public OutputStream watched(OutputStream printed) {
    return new Watched(printed);
  }

  /** What the program's user must know, a line; none where nothing was seen. */
  public List<String> lines() {
    return seen.isEmpty()
        ? List.of()
        : List.of(
            "the program used %d %s of the tracer as return addresses, first %s: a function that is not recognised reads them; record entries alone with --tracer function, or leave that function out with --notrace FUNCTION if it is traced"
                .formatted(seen.size(), seen.size() == 1 ? "address" : "addresses", first));
  }

  private final class Watched extends FilterOutputStream {
    Watched(OutputStream to) {
      super(to);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      int end = from + length;
      for (int at = from; at < end - DIGITS_LEAST - 1; at++) {
        if (bytes[at] == '0' && bytes[at + 1] == 'x') {
          look(bytes, at + 2, end);
        }
      }
      out.write(bytes, from, length);
    }

    private void look(byte[] bytes, int from, int end) {
      long address = 0;
      int at = from;
      while (at < end && at - from < 2 * Long.BYTES && Character.digit(bytes[at], 16) >= 0) {
        address = address << 4 | Character.digit(bytes[at], 16);
        at++;
      }
      if (at - from >= DIGITS_LEAST) {
        used("printed", address);
      }
    }
  }
}
