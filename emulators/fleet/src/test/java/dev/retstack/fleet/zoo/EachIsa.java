package dev.retstack.fleet.zoo;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.loader.LoadedImage;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** For properties that depend little on the convention; {@code -Dretstack.zoo=all} asks for all. */
public final class EachIsa {
  private static final String ASKED = System.getProperty("retstack.zoo", "");

  public static final boolean ALL = ASKED.equals("all");

  /**
   * True where programs are compiled for each ISA: in the row {@code compilers}, which every
   * campaign runs. Else there is one ISA for each word size and byte order.
   */
  public static final boolean COMPILED = ALL || ASKED.equals("compiled");

  private EachIsa() {}

  /** What is run of programs that are compiled: all, some of each ISA, or some of each kind. */
  public static <T> List<T> compiled(List<T> all, List<T> ofEachIsa, List<T> ofEachKind) {
    return ALL ? all : COMPILED ? ofEachIsa : ofEachKind;
  }

  /** One image of each ISA, or all images. */
  public static List<LoadedImage> images() {
    Set<Isa> met = new HashSet<>();
    return Zoo.images().stream().filter(image -> met.add(image.isa()) || ALL).toList();
  }

  /** Programs for what costs much: all of them where it is asked for, else every third. */
  static boolean isOfSome(Zoo.Case zoo) {
    return ALL || zoo.isOfThird();
  }

  /** Names of their files. */
  static Set<String> names() {
    return Set.copyOf(images().stream().map(image -> image.elf().name()).toList());
  }
}
