package dev.retstack.cli.option;

import dev.retstack.fleet.core.InterruptTimer;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code PERIOD:HANDLER}. */
final class TimerConverter implements ITypeConverter<InterruptTimer> {
  @Override
  public InterruptTimer convert(String text) {
    try {
      return InterruptTimer.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
