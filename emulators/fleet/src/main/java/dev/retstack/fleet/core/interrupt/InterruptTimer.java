package dev.retstack.fleet.core.interrupt;

import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Symbol;
import java.util.Optional;

/**
 * A timer that interrupts a core.
 *
 * @param period guest instructions from one interrupt to the next, counted from the start of the
 *     core
 * @param handler function of the image that is called
 */
public record InterruptTimer(long period, String handler) {
  public InterruptTimer {
    if (period < 1 || handler.isEmpty()) {
      throw new IllegalArgumentException(
          "timer of %d instructions with handler '%s': needs a period of 1 or more and a function"
              .formatted(period, handler));
    }
  }

  /**
   * Reads {@code PERIOD:HANDLER}.
   *
   * @throws IllegalArgumentException where it is something else
   */
  public static InterruptTimer parse(String text) {
    int colon = text.indexOf(':');
    try {
      return new InterruptTimer(
          Long.parseLong(text.substring(0, Math.max(0, colon)).replace("_", "")),
          text.substring(colon + 1));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "'%s' is not a timer: PERIOD:HANDLER, as in 1000:rtos_interrupt".formatted(text), e);
    }
  }

  /**
   * The handler in an image, as it is jumped to.
   *
   * @throws ElfFormatException where it is no function of it
   */
  public long address(LoadedImage image) throws ElfFormatException {
    Optional<Symbol> function =
        image.elf().symbol(handler).filter(s -> image.elf().executableAt(s.address()));
    if (function.isEmpty()) {
      throw new ElfFormatException(
          image.elf().name(),
          "the handler of timer %s".formatted(this),
          "'%s', which is not a function of it".formatted(handler),
          "the function that handles interrupts",
          "choose one from \"nm %s\"".formatted(image.elf().name()));
    }
    return image.elf().jumpTarget(function.get().address());
  }

  @Override
  public String toString() {
    return period + ":" + handler;
  }
}
