package dev.retstack.cli.option;

import dev.retstack.fleet.core.Ram;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code BASE:SIZE}. */
final class RamConverter implements ITypeConverter<Ram> {
  @Override
  public Ram convert(String text) {
    try {
      return Ram.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
