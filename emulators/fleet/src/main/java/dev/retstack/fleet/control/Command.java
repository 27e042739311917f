package dev.retstack.fleet.control;

import dev.retstack.fleet.settings.Order;
import dev.retstack.schema.Control;
import java.time.Instant;

/**
 * A command, read and understood.
 *
 * @param id unique name of it
 * @param number its offset in the control topic, or its number among those given in this process
 * @param deadline a core that cannot do it by then refuses it; {@link Instant#MAX} = none
 * @param target which cores are meant
 * @param order what they are to do
 */
public record Command(String id, long number, Instant deadline, Selector target, Order order) {
  /** Longest id, in characters. */
  static final int ID_LENGTH_MAX = 200;

  /**
   * Reads a command.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static Command of(Control control, long number) {
    String id = control.getId();
    if (id.isBlank() || id.length() > ID_LENGTH_MAX) {
      throw new IllegalArgumentException(
          "command id of %d characters: from 1 to %d, such as a UUID"
              .formatted(id.strip().length(), ID_LENGTH_MAX));
    }
    return new Command(
        id,
        number,
        control.getDeadline() == 0 ? Instant.MAX : Instant.ofEpochMilli(control.getDeadline()),
        Selector.parse(control.getTarget()),
        Order.parse(control.getName(), control.getArguments()));
  }
}
