package dev.retstack.unicorn.library;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The loaded library, and the only class that uses {@link Linker}. All restricted methods of the
 * module are called here.
 */
@SuppressWarnings("restricted")
public final class UnicornLibrary {
  /** {@code \177ELF}, read in little-endian order. */
  private static final int ELF_MAGIC = 0x464C_457F;

  private static final int ELF64_HEADER = 64;
  private static final int E_SHOFF = 0x28;
  private static final int E_SHENTSIZE = 0x3A;
  private static final int E_SHNUM = 0x3C;

  private static final System.Logger LOG = System.getLogger(UnicornLibrary.class.getName());

  private static final Linker LINKER = Linker.nativeLinker();

  /** Constants of dlfcn.h on Linux, where the build compiles libraries. */
  private static final int RTLD_NOW = 2;

  private static final int RTLD_GLOBAL = 0x100;

  private static volatile UnicornLibrary loaded;

  private final SymbolLookup symbols;
  private final LibraryLocator.Found found;

  private final boolean bounded;

  private UnicornLibrary(SymbolLookup symbols, LibraryLocator.Found found, boolean bounded) {
    this.symbols = symbols;
    this.found = found;
    this.bounded = bounded;
  }

  /**
   * Returns the library of this process, loaded on first use and then kept for good: a hook's
   * thread may be inside it at any time. A failure is not remembered, so that a later call finds
   * what was installed meanwhile.
   */
  public static UnicornLibrary get() {
    UnicornLibrary library = loaded;
    return library != null ? library : load();
  }

  private static synchronized UnicornLibrary load() {
    if (loaded == null) {
      LibraryLocator.Found found = LibraryLocator.ofThisProcess().locate();
      found.warning().ifPresent(warning -> LOG.log(System.Logger.Level.WARNING, warning));
      Optional<BlockBound> bound = BlockBound.load(); // before it
      SymbolLookup symbols = lookup(found.path().toString(), Arena.global());
      bound.ifPresent(b -> b.standBefore(symbols));
      loaded = new UnicornLibrary(symbols, found, bound.isPresent());
    }
    return loaded;
  }

  /** Returns whether the blocks that it translates are bounded. */
  public boolean isBounded() {
    return bounded;
  }

  /** Returns which library this is. */
  public LibraryLocator.Found found() {
    return found;
  }

  /**
   * Loads a library for a look at its version, and lets go of it.
   *
   * @param name a path, or a bare name for the system's loader to find
   * @throws UnicornLoadException if it does not load, is not libunicorn, or native access is off
   */
  public static UnicornVersion versionOf(String name) {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup symbols = lookup(name, arena);
      FunctionDescriptor shape =
          FunctionDescriptor.of(JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
      MethodHandle version = LINKER.downcallHandle(find(symbols, "uc_version", name), shape);
      return UnicornVersion.ofPacked((int) version.invokeExact(0L, 0L));
    } catch (UnicornLoadException e) {
      throw e;
    } catch (Throwable t) {
      throw new UnicornLoadException("uc_version of " + name + " failed: " + t, t);
    }
  }

  /** Loads a library whose functions go before those of libraries that are loaded later. */
  public static SymbolLookup loadAhead(Path file) {
    MethodHandle dlopen = standard("dlopen", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(file.toString());
      MemorySegment handle = (MemorySegment) dlopen.invokeExact(name, RTLD_NOW | RTLD_GLOBAL);
      if (handle.address() == 0) {
        throw new UnicornLoadException(file + " does not load");
      }
    } catch (UnicornLoadException e) {
      throw e;
    } catch (Throwable t) {
      throw new UnicornLoadException("dlopen of " + file + " failed: " + t, t);
    }
    return lookup(file.toString(), Arena.global());
  }

  private static SymbolLookup lookup(String name, Arena arena) {
    try {
      requireWhole(Path.of(name));
      return SymbolLookup.libraryLookup(name, arena);
    } catch (IllegalArgumentException e) {
      throw new UnicornLoadException(name + " does not load: " + e.getMessage(), e);
    } catch (IllegalCallerException e) {
      throw new UnicornLoadException(
          "native access is off: start java with --enable-native-access=ALL-UNNAMED", e);
    }
  }

  /** The loader maps a file without its end, and the process then dies of SIGBUS. */
  private static void requireWhole(Path file) {
    if (!file.isAbsolute()) {
      return; // the system's loader finds it
    }
    try (FileChannel channel = FileChannel.open(file)) {
      ByteBuffer header = ByteBuffer.allocate(ELF64_HEADER).order(ByteOrder.LITTLE_ENDIAN);
      channel.read(header);
      if (header.hasRemaining() || header.getInt(0) != ELF_MAGIC) {
        throw new UnicornLoadException(file + " is no ELF file: it is no libunicorn");
      }
      long end =
          header.getLong(E_SHOFF) + (long) header.getShort(E_SHENTSIZE) * header.getShort(E_SHNUM);
      if (channel.size() < end) {
        throw new UnicornLoadException(
            "%s is cut off: it has %,d bytes of at least %,d".formatted(file, channel.size(), end));
      }
    } catch (IOException e) {
      throw new UnicornLoadException(file + " does not load: " + e.getMessage(), e);
    }
  }

  private static MemorySegment find(SymbolLookup symbols, String function, String library) {
    return symbols
        .find(function)
        .orElseThrow(() -> new UnicornLoadException(library + " has no function " + function));
  }

  /** Address of a function of the library. */
  public MemorySegment function(String name) {
    return find(symbols, name, found.path().toString());
  }

  /** Links a function of the library. */
  public MethodHandle downcall(String name, FunctionDescriptor shape, Linker.Option... options) {
    return LINKER.downcallHandle(find(symbols, name, found.path().toString()), shape, options);
  }

  /** Links a function of the C library. */
  public static MethodHandle standard(String name, FunctionDescriptor shape) {
    return LINKER.downcallHandle(find(LINKER.defaultLookup(), name, "the C library"), shape);
  }

  /** Links a short function that does not call Java. */
  public static MethodHandle leaf(MemorySegment function, FunctionDescriptor shape) {
    return LINKER.downcallHandle(function, shape, Linker.Option.critical(false));
  }

  /** Makes a C function pointer to a static method that never throws; it is never freed. */
  public static long upcall(MethodHandle target, FunctionDescriptor shape) {
    return LINKER.upcallStub(target, shape, Arena.global()).address();
  }

  /** Returns all of the process's memory, to follow pointers that C hands over. */
  public static MemorySegment memory() {
    return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  }

  /** Gives a pointer of the library a size and a life. */
  public static MemorySegment view(long address, long size, Arena arena) {
    return view(address, size, arena, null);
  }

  /** Gives a pointer a size and a life, and calls {@code release} when that life ends. */
  public static MemorySegment view(
      long address, long size, Arena arena, Consumer<MemorySegment> release) {
    return MemorySegment.ofAddress(address).reinterpret(size, arena, release);
  }
}
