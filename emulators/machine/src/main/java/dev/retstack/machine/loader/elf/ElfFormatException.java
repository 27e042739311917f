package dev.retstack.machine.loader.elf;

import java.io.IOException;

/**
 * A file that cannot be run: the field, the value found there, what is allowed, and how to fix it.
 */
public final class ElfFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final String field;
  private final String value;
  private final String allowed;
  private final String cure;

  /**
   * @param file name of the file, without its folder
   * @param field what was looked at, in the spelling of the ELF specification ("e_type", "p_memsz")
   * @param value what was found there
   * @param allowed what may stand there
   * @param cure what the reader can do about it
   */
  public ElfFormatException(String file, String field, String value, String allowed, String cure) {
    super(file + ": " + field + " is " + value + ", allowed: " + allowed + "; " + cure);
    this.file = file;
    this.field = field;
    this.value = value;
    this.allowed = allowed;
    this.cure = cure;
  }

  /** Name of the file, without its folder. */
  public String file() {
    return file;
  }

  /** What was looked at, in the spelling of the ELF specification. */
  public String field() {
    return field;
  }

  /** What was found. */
  public String value() {
    return value;
  }

  /** What may stand there. */
  public String allowed() {
    return allowed;
  }

  /** What the reader can do about it. */
  public String cure() {
    return cure;
  }
}
