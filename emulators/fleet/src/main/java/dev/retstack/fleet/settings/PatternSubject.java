package dev.retstack.fleet.settings;

import dev.retstack.fleet.loader.elf.ElfFile;
import dev.retstack.fleet.loader.elf.Section;
import java.util.List;
import java.util.function.Predicate;

/**
 * What a {@link FunctionPattern} is held against.
 *
 * @param names of the function: an alias, or one of the same code that was folded into it, means it
 *     too; none where no symbol tells
 * @param site address of its call site, which is its selfpc
 * @param section that holds the site, such as {@code .text}; empty where the file has no sections
 * @param image name of the program's file
 */
public record PatternSubject(List<String> names, long site, String section, String image) {
  public PatternSubject {
    names = List.copyOf(names);
  }

  /** A function of one name; empty where no symbol tells it. */
  public PatternSubject(String function, long site, String section, String image) {
    this(List.of(function), site, section, image);
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
        names(elf, site, function),
        site,
        elf.sections().stream()
            .filter(section -> section.contains(site))
            .findFirst()
            .map(Section::name)
            .orElse(""),
        elf.name());
  }

  private static List<String> names(ElfFile elf, long site, long function) {
    List<String> names = elf.namesAt(site);
    return names.isEmpty() ? elf.namesAt(function) : names;
  }

  /** The name that the function is shown by; empty where no symbol tells. */
  public String function() {
    return names.isEmpty() ? "" : names.getFirst();
  }

  /** True where one of the names is meant. */
  public boolean isNamed(Predicate<String> wanted) {
    return names.isEmpty() ? wanted.test("") : names.stream().anyMatch(wanted);
  }

  /** The same site of a function that another file has. */
  public PatternSubject named(String name) {
    return new PatternSubject(name, site, section, image);
  }

  /** The same site at the address where it stands in memory. */
  public PatternSubject at(long address) {
    return new PatternSubject(names, address, section, image);
  }
}
