package dev.retstack.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.Terminal;
import dev.retstack.cli.option.Tables;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** Asks a pipeline again and again, and shows what changed since the time before. */
public final class TopMeter {
  private static final String CLEAR = "\u001b[H\u001b[2J\u001b[3J";

  /** Rows that are asked for: who is busy now is found among those that have most in all. */
  private static final int ASKED = 1000;

  /** Asks for a resource as JSON. */
  @FunctionalInterface
  public interface Question {
    /** The answer's text. */
    String ask(String resource, Map<String, String> parameters) throws InterruptedException;
  }

  private final Question question;
  private final Map<String, String> parameters;
  private final String sort;
  private final int rows;
  private TopSample before;

  /**
   * Has not asked yet.
   *
   * @param parameters of {@code /top}, such as its unit
   * @param sort {@code calls}, {@code self} or {@code total}: which functions are the first
   * @param rows most rows of cores and of functions
   */
  public TopMeter(Question question, Map<String, String> parameters, String sort, int rows) {
    this.question = question;
    Map<String, String> all = new HashMap<>(parameters);
    all.put("sort", sort);
    all.put("limit", String.valueOf(Math.max(rows, ASKED)));
    this.parameters = Map.copyOf(all);
    this.sort = sort;
    this.rows = rows;
  }

  /** Takes the first sample, or another one that rates are since. */
  public void sample() throws IOException, InterruptedException {
    before = now();
  }

  /** Shows what changed since the last sample. */
  public void text(Terminal terminal, boolean clear) throws IOException, InterruptedException {
    TopView view = next();
    if (clear) {
      terminal.rawOut().print(CLEAR);
    }
    view.text(terminal.out());
    terminal.out().flush();
  }

  /** The same for programs. */
  public ObjectNode json() throws IOException, InterruptedException {
    return next().json();
  }

  private TopView next() throws IOException, InterruptedException {
    TopSample now = now();
    TopView view = new TopView(before, now, sort, rows);
    before = now;
    return view;
  }

  private TopSample now() throws IOException, InterruptedException {
    JsonNode parts = ask("parts", Map.of());
    long nanos = System.nanoTime();
    return TopSample.of(nanos, parts, ask("top", parameters));
  }

  private JsonNode ask(String resource, Map<String, String> with)
      throws IOException, InterruptedException {
    return Tables.JSON.readTree(question.ask(resource, with));
  }
}
