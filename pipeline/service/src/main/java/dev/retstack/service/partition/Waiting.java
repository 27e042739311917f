package dev.retstack.service.partition;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Questions that are answered when it is time, in the order of arrival. */
final class Waiting<T> {
  private final Consumer<T> answer;
  private final List<T> questions = new ArrayList<>();

  Waiting(Consumer<T> answer) {
    this.answer = answer;
  }

  /** Answers at once where it is time already. */
  void ask(T question, boolean now) {
    if (now) {
      answer.accept(question);
    } else {
      questions.add(question);
    }
  }

  /** Answers all questions: it is time. */
  void answerAll() {
    answerAll(answer);
  }

  /** Answers all questions otherwise: the time will not come. */
  void answerAll(Consumer<T> otherwise) {
    questions.forEach(otherwise);
    questions.clear();
  }
}
