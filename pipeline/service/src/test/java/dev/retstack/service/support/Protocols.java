package dev.retstack.service.support;

import dev.retstack.service.kafka.GroupProtocol;
import java.util.List;

/**
 * Group protocols of tests that are long and whose subject is not the protocol: one of them, and
 * all with {@code -Dretstack.protocols=all}.
 */
public final class Protocols {
  /** Name of {@link #some()} for {@code @MethodSource}. */
  public static final String SOME = "dev.retstack.service.support.Protocols#some";

  private Protocols() {}

  /** Those of this run. */
  public static List<GroupProtocol> some() {
    boolean all = "all".equals(System.getProperty("retstack.protocols"));
    return all ? List.of(GroupProtocol.values()) : List.of(GroupProtocol.CLASSIC);
  }
}
