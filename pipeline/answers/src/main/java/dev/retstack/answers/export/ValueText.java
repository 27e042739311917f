package dev.retstack.answers.export;

import dev.retstack.answers.table.Units;
import dev.retstack.graph.totals.SystemCallTotals;
import dev.retstack.graph.tree.RecordedValues;
import dev.retstack.schema.record.ValuesDepth;
import java.util.stream.Collectors;

/**
 * Raw registers as people read them. Where nobody said how: small numbers and error numbers signed,
 * the rest in hex, as the kernel's funcgraph-retval does.
 */
final class ValueText {
  private static final long SMALL = 4095;

  /** Names of the error numbers 1 to 34, which all architectures share. */
  private static final String[] ERRORS = {
    "", "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV",
    "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC",
    "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE"
  };

  private ValueText() {}

  /** The values, divided by commas. */
  static String list(RecordedValues values, int wordBytes) {
    return values
        .values()
        .longStream()
        .mapToObj(value -> one(value, values.format(), wordBytes))
        .collect(Collectors.joining(", "));
  }

  /** The result of a system call: an error with its name. */
  static String result(RecordedValues values, int wordBytes) {
    return values.isEmpty() ? "" : orError(values.values().getLong(0), ValuesDepth.AUTO, wordBytes);
  }

  private static String one(long value, int format, int wordBytes) {
    long signed = wordBytes == Integer.BYTES ? (int) value : value;
    long unsigned = wordBytes == Integer.BYTES ? value & 0xffff_ffffL : value;
    return switch (format) {
      case ValuesDepth.SIGNED -> Long.toString(signed);
      case ValuesDepth.UNSIGNED -> Long.toUnsignedString(unsigned);
      case ValuesDepth.HEX -> Units.hex(unsigned);
      case ValuesDepth.ERRNO -> orError(value, ValuesDepth.SIGNED, wordBytes);
      default -> signed >= -SMALL && signed <= SMALL ? Long.toString(signed) : Units.hex(unsigned);
    };
  }

  private static String orError(long value, int otherwise, int wordBytes) {
    long signed = wordBytes == Integer.BYTES ? (int) value : value;
    if (!SystemCallTotals.isError(signed)) {
      return one(value, otherwise, wordBytes);
    }
    return -signed < ERRORS.length ? signed + " " + ERRORS[(int) -signed] : Long.toString(signed);
  }
}
