package dev.retstack.service.identity;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The member that has taken over a partition, as written beside the offset that it commits. Kafka
 * takes that only from a member of the group, in the group's present generation, so it bounds what
 * a part may say of itself.
 *
 * @param epoch how often the partition was taken over
 * @param key digest of the member's key
 */
public record Holder(long epoch, String key) {
  /** No partition is taken over so often: a higher epoch was forged. */
  public static final long EPOCH_MAX = 999_999_999_999_999_999L;

  private static final Pattern FORM = Pattern.compile("retstack (\\d{1,18}) ([0-9a-f]{32})");

  /** Text that stands beside an offset. */
  public String text() {
    return "retstack " + epoch + " " + key;
  }

  /** What stands beside an offset; empty where it is of no member. */
  public static Optional<Holder> in(String text) {
    Matcher matcher = FORM.matcher(text);
    return matcher.matches()
        ? Optional.of(new Holder(Long.parseLong(matcher.group(1)), matcher.group(2)))
        : Optional.empty();
  }
}
