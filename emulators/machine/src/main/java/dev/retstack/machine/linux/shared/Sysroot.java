package dev.retstack.machine.linux.shared;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.SharedObjects;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A folder of the host that stands for the root folder of a dynamically linked program. Of its
 * files the program may read the shared objects of its ISA and the loader's cache, and nothing
 * else. Its own folder stands there too, for the names that the sysroot does not have: {@code
 * $ORIGIN} is the root, and {@code $ORIGIN/..} the folder around the program's.
 */
public final class Sysroot {
  private static final String LOADER_CACHE = "/etc/ld.so.cache";

  /** As Linux: more links on the way to a file are a circle. */
  private static final int LINKS_MAX = 40;

  private static final int HEADER_BYTES = 20;
  private static final int CLASS_AT = 4;
  private static final int DATA_AT = 5;
  private static final int MACHINE_AT = 18;

  private final ElfFile program;
  private final Path root;

  private LoadedImage interpreter;

  private Sysroot(ElfFile program, Path root) {
    this.program = program;
    this.root = root;
  }

  /**
   * The sysroot of a program that names an interpreter.
   *
   * @param given by the user; else this machine's root folder or the one of the ISA's toolchain,
   *     whichever has the interpreter
   * @throws ElfFormatException where none has it, or it cannot be run; with the cure
   */
  public static Sysroot of(ElfFile program, Isa isa, Optional<Path> given) throws IOException {
    String interpreter = program.interpreter().orElseThrow();
    List<Path> roots = new ArrayList<>();
    given.ifPresent(roots::add);
    List<DynamicAbi.Sysroot> known = isa.syscalls().dynamic().sysroots();
    if (given.isEmpty()) {
      roots.add(Path.of("/"));
      known.forEach(sysroot -> roots.add(Path.of(sysroot.folder())));
    }
    for (Path root : roots) {
      Sysroot sysroot = new Sysroot(program, root.toAbsolutePath().normalize());
      Optional<Path> file = sysroot.find(interpreter);
      if (file.isPresent()) {
        sysroot.interpreter = read(program, file.get());
        return sysroot;
      }
    }
    String packages =
        known.stream()
            .filter(sysroot -> sysroot.mayHave(interpreter))
            .map(DynamicAbi.Sysroot::debianPackage)
            .collect(Collectors.joining(", "));
    String cure =
        packages.isEmpty() || given.isPresent() ? "" : "install %s (Debian), ".formatted(packages);
    throw new ElfFormatException(
        program.name(),
        "PT_INTERP",
        "%s, which is no program for %s in %s"
            .formatted(
                interpreter, isa, String.join(", ", roots.stream().map(Path::toString).toList())),
        "the loader of its shared objects, below the sysroot",
        cure + "give the folder that has it with --sysroot, or link with -static");
  }

  /** Where the interpreter stands: mappings begin there. */
  public static long interpreterBase(int wordBytes) {
    return wordBytes == Long.BYTES ? 0x20_0000_0000L : 0x4000_0000L;
  }

  /** The program's interpreter, placed where mappings begin. */
  public ElfFile interpreter() {
    return interpreter.elf();
  }

  /** The interpreter, with what the tracer knows of it. */
  public LoadedImage interpreterImage() {
    return interpreter;
  }

  private static LoadedImage read(ElfFile program, Path file) throws IOException {
    LoadedImage image = SharedObjects.interpreter(file, interpreterBase(program.wordBytes()));
    if (!image.elf().positionIndependent()) {
      throw new ElfFormatException(
          image.elf().name(),
          "e_type",
          "2 (executable)",
          "3 (position-independent), of the interpreter of a program",
          "take the loader of a C library, or link with -static");
    }
    return image;
  }

  /** The file of the host behind a name, if the program may read it. */
  public Optional<Path> find(String name) {
    try {
      Path full = Path.of("/" + name);
      Path below = full.normalize();
      Optional<Path> file =
          full.startsWith("/..") ? beside(Path.of("." + full).normalize()) : Optional.empty();
      if (file.isEmpty()) {
        file = resolve(below).filter(path -> mayRead(below, path));
      }
      return file.isPresent() ? file : beside(Path.of("/").relativize(below));
    } catch (IOException | InvalidPathException e) {
      return Optional.empty();
    }
  }

  /**
   * A shared object near the program: below its folder, or below one of those around it that {@code
   * $ORIGIN/..} names.
   */
  private Optional<Path> beside(Path fromOrigin) throws IOException {
    Path top = program.file().map(Path::getParent).orElse(null);
    Path file = top == null ? null : top.resolve(fromOrigin);
    if (file == null || !Files.exists(file)) {
      return Optional.empty();
    }
    for (Path part : fromOrigin) {
      top = part.toString().equals("..") && top != null ? top.getParent() : top;
    }
    Path real = file.toRealPath();
    return top != null && real.startsWith(top.toRealPath()) && isOfIsa(real)
        ? Optional.of(real)
        : Optional.empty();
  }

  /** Follows links as a process does whose root folder this is: none leads out of it. */
  private Optional<Path> resolve(Path name) throws IOException {
    Deque<Path> left = new ArrayDeque<>();
    name.forEach(left::add);
    Path at = root;
    int links = 0;
    while (!left.isEmpty()) {
      Path next = left.remove();
      if (next.toString().equals("..")) {
        at = at.equals(root) ? root : at.getParent();
        continue;
      }
      Path step = at.resolve(next).normalize();
      if (!Files.isSymbolicLink(step)) {
        at = step;
        continue;
      }
      if (++links > LINKS_MAX) {
        return Optional.empty();
      }
      Path target = Files.readSymbolicLink(step);
      at = target.isAbsolute() ? root : at;
      List<Path> parts = new ArrayList<>();
      target.forEach(parts::add);
      for (int i = parts.size() - 1; i >= 0; i--) {
        left.addFirst(parts.get(i));
      }
    }
    return Files.isRegularFile(at, LinkOption.NOFOLLOW_LINKS) ? Optional.of(at) : Optional.empty();
  }

  private boolean mayRead(Path name, Path file) {
    return name.toString().equals(LOADER_CACHE) || isOfIsa(file);
  }

  private boolean isOfIsa(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] header = in.readNBytes(HEADER_BYTES);
      boolean little = program.order() == ByteOrder.LITTLE_ENDIAN;
      return header.length == HEADER_BYTES
          && Arrays.equals(Arrays.copyOf(header, CLASS_AT), new byte[] {0x7f, 'E', 'L', 'F'})
          && header[CLASS_AT] == (program.is64() ? 2 : 1)
          && header[DATA_AT] == (little ? 1 : 2)
          && ByteBuffer.wrap(header).order(program.order()).getShort(MACHINE_AT)
              == (short) program.machine();
    } catch (IOException e) {
      return false;
    }
  }
}
