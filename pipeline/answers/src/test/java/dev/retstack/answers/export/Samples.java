package dev.retstack.answers.export;

import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.States;
import dev.retstack.graph.state.GraphState;

/** One small core that meets everything a renderer has to show. */
final class Samples {
  private Samples() {}

  static CoreScript script() {
    return new CoreScript(
        CoreScript.image("zoo", "main", "leaf", "hop", "target", "thrower"), "s1", "core-0");
  }

  /** A tail call, a frame pointer mismatch, a longjmp, a loss, an end in the middle. */
  static GraphState state() {
    return States.of(
        script()
            .tick(10)
            .enter("main")
            .tick(5)
            .enter("leaf")
            .tick(3)
            .exit()
            .tick(2)
            .enter("hop")
            .tick(1)
            .tailCall("target")
            .tick(4)
            .exit()
            .tick(1)
            .enter("leaf")
            .tick(7)
            .exit(8)
            .tick(1)
            .enter("thrower")
            .tick(1)
            .enter("leaf")
            .tick(1)
            .unwind(2)
            .enter("target")
            .tick(2)
            .exit()
            .tick(1)
            .lose(6)
            .tick(9)
            .enter("leaf")
            .tick(2)
            .exit()
            .enter("hop")
            .tick(2)
            .end());
  }
}
