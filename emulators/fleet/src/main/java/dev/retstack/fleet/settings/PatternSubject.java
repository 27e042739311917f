package dev.retstack.fleet.settings;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Section;
import dev.retstack.schema.record.FunctionName;

/**
 * What a {@link FunctionPattern} is held against.
 *
 * @param names of the function; empty where no symbol has one
 * @param site address of its call site, which is its selfpc
 * @param section that holds the site, such as {@code .text}; empty where the file has no sections
 * @param image name of the program's file
 */
public record PatternSubject(FunctionName names, long site, String section, String image) {
  /** A function of one name; empty where no symbol has one. */
  public PatternSubject(String function, long site, String section, String image) {
    this(new FunctionName(function), site, section, image);
  }

  /**
   * A call site of a program.
   *
   * @param site its address
   * @param function address of the function that it belongs to, for a site that lies outside of
   *     what the symbol covers
   */
  public static PatternSubject of(ElfFile elf, long site, long function) {
    return new PatternSubject(
        elf.functionAt(site)
            .or(() -> elf.functionAt(function))
            .map(elf::name)
            .orElse(FunctionName.NONE),
        site,
        elf.sections().stream()
            .filter(section -> section.contains(site))
            .findFirst()
            .map(Section::name)
            .orElse(""),
        elf.name());
  }

  /** The same site of a function that another file has. */
  public PatternSubject named(String function) {
    return new PatternSubject(function, site, section, image);
  }

  /** The same site at the address where it stands in memory. */
  public PatternSubject at(long address) {
    return new PatternSubject(names, address, section, image);
  }
}
