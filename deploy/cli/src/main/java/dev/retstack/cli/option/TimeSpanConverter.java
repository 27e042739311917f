package dev.retstack.cli.option;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A time as people write it: {@code 90s}, {@code 30m}, {@code 12h}, {@code 7d}, or 0. */
public final class TimeSpanConverter implements ITypeConverter<Duration> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,9})([smhd])");
  private static final Map<String, Integer> SECONDS =
      Map.of("s", 1, "m", 60, "h", 3_600, "d", 86_400);

  @Override
  public Duration convert(String text) {
    if (text.equals("0")) {
      return Duration.ZERO;
    }
    Matcher found = FORM.matcher(text);
    if (!found.matches()) {
      throw new TypeConversionException(
          "'%s' is no time: give a number and s, m, h or d, such as 7d, or 0".formatted(text));
    }
    return Duration.ofSeconds(Long.parseLong(found.group(1)) * SECONDS.get(found.group(2)));
  }
}
