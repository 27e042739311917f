package dev.retstack.fleet.probe.task;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.wire.NearNames;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** The places in an image by which its tasks are declared. */
public final class TaskFunctions {
  /** What a function is to tasks. */
  public enum Role {
    NONE,
    /** An argument of it is the next task. */
    SWITCHES,
    /** The task that enters it ends. */
    ENDS,
    /** What it and its callees do is of an interrupt. */
    HANDLES
  }

  private static final int NEAR_NAMES = 3;
  private static final String ARGUMENT = "arg[1-8]";

  private final LoadedImage image;
  private final OptionalLong variable;
  private final int bytes;
  private final int argument;
  private final boolean switches;

  /** By the address of the function. */
  private final Map<Long, Role> roles = new HashMap<>();

  private final Map<Long, Integer> numbers = new HashMap<>();

  private TaskFunctions(LoadedImage image, TaskOptions options) throws ElfFormatException {
    this.image = image;
    variable =
        options.variable().isEmpty()
            ? OptionalLong.empty()
            : OptionalLong.of(variable(options.variable()));
    bytes = bytes(options.variable());
    for (String name : options.ends()) {
      roles.put(function("function that ends tasks", name), Role.ENDS);
    }
    for (int i = 0; i < options.handlers().size(); i++) {
      long handler = function("interrupt handler", options.handlers().get(i));
      roles.put(handler, Role.HANDLES);
      numbers.put(handler, i);
    }
    switches = !options.switcher().isEmpty();
    argument = switches ? switcher(options.switcher()) : 0;
  }

  /**
   * The task functions of an image.
   *
   * @throws ElfFormatException where the image has no such symbol, or hides the argument
   */
  public static TaskFunctions of(LoadedImage image, TaskOptions options) throws ElfFormatException {
    return new TaskFunctions(image, options);
  }

  /**
   * The task functions of an image whose core is opened.
   *
   * @throws IllegalArgumentException where image and options do not go together
   */
  public static TaskFunctions require(LoadedImage image, TaskOptions options) {
    try {
      return of(image, options);
    } catch (ElfFormatException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private long variable(String name) throws ElfFormatException {
    if (name.startsWith("0x")) {
      try {
        return Long.parseUnsignedLong(name.substring(2), 16);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "task variable %s: a symbol, or an address in hex like 0x40001000".formatted(name), e);
      }
    }
    return image
        .elf()
        .symbol(name)
        .map(Symbol::address)
        .orElseThrow(() -> missing("task variable", name, image.elf().objects()));
  }

  /** A whole number in C may be shorter than a pointer. */
  private int bytes(String name) {
    long size = image.elf().symbol(name).map(Symbol::size).orElse(0L);
    boolean isNumber = size == Byte.BYTES || size == Short.BYTES || size == Integer.BYTES;
    return isNumber ? (int) size : image.isa().wordBytes();
  }

  private int switcher(String text) throws ElfFormatException {
    String[] parts = text.split(":", 2);
    if (parts.length == 2 && !parts[1].matches(ARGUMENT)) {
      throw new IllegalArgumentException(
          "task switch %s: write FUNCTION:argN, the N-th argument is the next task, from 1 on"
              .formatted(text));
    }
    roles.put(function("function that switches tasks", parts[0]), Role.SWITCHES);
    int index = parts.length == 1 ? 0 : parts[1].charAt("arg".length()) - '1';
    for (ActiveConvention convention : image.conventions()) {
      AbiCard card = convention.card();
      if (card.arguments().size() <= index) {
        throw new ElfFormatException(
            image.elf().name(),
            "the function that switches tasks",
            "%s, whose convention %s shows %d arguments at the entry"
                .formatted(text, card, card.arguments().size()),
            "%d or more".formatted(index + 1),
            "compile with -fpatchable-function-entry, or name a variable (--task-variable)");
      }
    }
    return index;
  }

  private long function(String what, String name) throws ElfFormatException {
    return image.elf().functions().stream()
        .filter(f -> f.name().equals(name))
        .findFirst()
        .or(() -> image.elf().symbol(name).flatMap(s -> image.elf().functionAt(s.address())))
        .map(Symbol::address)
        .orElseThrow(() -> missing(what, name, image.elf().functions()));
  }

  private ElfFormatException missing(String what, String name, List<Symbol> all) {
    List<String> names = all.stream().map(Symbol::name).distinct().toList();
    List<String> near = NearNames.of(name, names, NEAR_NAMES);
    return new ElfFormatException(
        image.elf().name(),
        "the " + what,
        "'%s', which it has not".formatted(name),
        "a symbol of it",
        near.isEmpty()
            ? "choose one from \"nm %s\"".formatted(image.elf().name())
            : "did you mean %s?".formatted(String.join(", ", near)));
  }

  /** True where nothing is declared that functions do. */
  public boolean isEmpty() {
    return roles.isEmpty();
  }

  /** Address of the variable. */
  OptionalLong variable() {
    return variable;
  }

  /** How long the variable is: 1, 2, 4, or 8. */
  public int bytes() {
    return bytes;
  }

  /** True where a function shows which task is next. */
  boolean switches() {
    return switches;
  }

  /** Index of the argument of it that does. */
  public int argument() {
    return argument;
  }

  /** What the function that holds a site is to tasks. */
  public Role role(long selfPc) {
    return roles.isEmpty() ? Role.NONE : roles.getOrDefault(start(selfPc), Role.NONE);
  }

  /** The number of the interrupts that the function handles which holds a site. */
  int number(long selfPc) {
    return numbers.get(start(selfPc));
  }

  private long start(long selfPc) {
    return image.elf().functionAt(selfPc).map(Symbol::address).orElse(selfPc);
  }
}
