package dev.retstack.service.query;

import dev.retstack.service.http.Page;
import java.util.Optional;

/**
 * The text of an answer.
 *
 * @param page which part of the rows it holds, where it has rows that can be had in parts
 */
record Answer(String text, Optional<Page<?>> page) {
  static Answer of(String text) {
    return new Answer(text, Optional.empty());
  }

  static Answer of(String text, Page<?> page) {
    return new Answer(text, Optional.of(page));
  }
}
