package dev.retstack.answers.question;

import dev.retstack.answers.search.CallSearch;
import dev.retstack.answers.search.NameMatch;

/**
 * A question where calls are.
 *
 * @param window the cores that are meant, and the time in which the calls begin
 * @param match what their functions are called
 * @param most places at most
 */
public record HitsQuestion(WindowQuestion window, NameMatch match, int most) {
  /** A search of them that found nothing so far. */
  public CallSearch search() {
    return new CallSearch(match, window.first(), window.last(), most);
  }
}
