package dev.retstack.unicorn;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.unicorn.library.UnicornLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;

/**
 * The C functions of Unicorn, one static method each, under their own names. Pointers are plain
 * {@code long}s: no segment is made or checked on a hot path, so callers manage lifetimes.
 *
 * <p>{@code critical} is only on short leaf functions that never call a hook. Register writes do
 * not have it: loading an x86 segment register reads guest memory and may ask a TLB hook.
 */
@SuppressWarnings("MemberName") // the names of C
final class NativeUnicorn {
  private static final UnicornLibrary LIBRARY = UnicornLibrary.get();
  private static final MemorySegment MEMORY = UnicornLibrary.memory();

  private static final Linker.Option LEAF = Linker.Option.critical(false);
  private static final Linker.Option LEAF_ON_HEAP = Linker.Option.critical(true);
  private static final Linker.Option HOOK_VARIADIC = Linker.Option.firstVariadicArg(7);
  private static final Linker.Option CTL_VARIADIC = Linker.Option.firstVariadicArg(2);

  private static final MethodHandle uc_open$mh = link("uc_open", JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle uc_close$mh = link("uc_close", JAVA_LONG);
  private static final MethodHandle uc_query$mh = link("uc_query", JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle uc_strerror$mh =
      LIBRARY.downcall("uc_strerror", FunctionDescriptor.of(JAVA_LONG, JAVA_INT), LEAF);
  private static final MethodHandle uc_mem_map$mh =
      link("uc_mem_map", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle uc_mem_map_ptr$mh =
      link("uc_mem_map_ptr", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle uc_mem_unmap$mh =
      link("uc_mem_unmap", JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle uc_mem_protect$mh =
      link("uc_mem_protect", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle uc_mem_read$mh = buffer("uc_mem_read");
  private static final MethodHandle uc_mem_write$mh = buffer("uc_mem_write");
  private static final MethodHandle uc_vmem_translate$mh =
      link("uc_vmem_translate", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle uc_reg_read$mh =
      LIBRARY.downcall("uc_reg_read", shape(JAVA_LONG, JAVA_INT, JAVA_LONG), LEAF);
  private static final MethodHandle uc_reg_write$mh =
      link("uc_reg_write", JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle uc_reg_read_batch$mh =
      link("uc_reg_read_batch", LEAF, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle uc_reg_write_batch$mh =
      link("uc_reg_write_batch", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle uc_emu_start$mh =
      link("uc_emu_start", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle uc_emu_stop$mh = link("uc_emu_stop", LEAF, JAVA_LONG);
  private static final MethodHandle uc_hook_add$mh =
      link(
          "uc_hook_add",
          HOOK_VARIADIC,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_INT,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG);
  private static final MethodHandle uc_hook_add_insn$mh =
      link(
          "uc_hook_add",
          HOOK_VARIADIC,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_INT,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_INT);
  private static final MethodHandle uc_hook_del$mh = link("uc_hook_del", JAVA_LONG, JAVA_LONG);
  private static final MethodHandle uc_ctl$mh = link("uc_ctl", CTL_VARIADIC, JAVA_LONG, JAVA_INT);
  private static final MethodHandle uc_ctl_int$mh =
      link("uc_ctl", CTL_VARIADIC, JAVA_LONG, JAVA_INT, JAVA_INT);
  private static final MethodHandle uc_ctl_long$mh =
      link("uc_ctl", CTL_VARIADIC, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle uc_ctl_long_long$mh =
      link("uc_ctl", CTL_VARIADIC, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle uc_context_alloc$mh =
      link("uc_context_alloc", JAVA_LONG, JAVA_LONG);
  private static final MethodHandle uc_context_save$mh =
      link("uc_context_save", JAVA_LONG, JAVA_LONG);
  private static final MethodHandle uc_context_restore$mh =
      link("uc_context_restore", JAVA_LONG, JAVA_LONG);
  private static final MethodHandle uc_context_free$mh = link("uc_context_free", JAVA_LONG);
  private static final MethodHandle uc_context_size$mh =
      LIBRARY.downcall("uc_context_size", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));

  private NativeUnicorn() {}

  /** Links all functions: to initialise this class does it. */
  static void link() {
    // nothing more
  }

  private static FunctionDescriptor shape(MemoryLayout... arguments) {
    return FunctionDescriptor.of(JAVA_INT, arguments);
  }

  private static MethodHandle link(String name, MemoryLayout... arguments) {
    return widened(LIBRARY.downcall(name, shape(arguments)));
  }

  private static MethodHandle link(String name, Linker.Option option, MemoryLayout... arguments) {
    return widened(LIBRARY.downcall(name, shape(arguments), option));
  }

  private static MethodHandle buffer(String name) {
    return LIBRARY.downcall(name, shape(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG), LEAF_ON_HEAP);
  }

  /** Makes every argument a long, so that one invoker per arity serves all functions. */
  private static MethodHandle widened(MethodHandle handle) {
    Class<?>[] longs = new Class<?>[handle.type().parameterCount()];
    Arrays.fill(longs, long.class);
    return MethodHandles.explicitCastArguments(handle, MethodType.methodType(int.class, longs));
  }

  static int uc_open(int arch, int mode, long engineOut) {
    return call(uc_open$mh, arch, mode, engineOut);
  }

  static int uc_close(long uc) {
    return call(uc_close$mh, uc);
  }

  static int uc_query(long uc, int type, long resultOut) {
    return call(uc_query$mh, uc, type, resultOut);
  }

  static int uc_mem_map(long uc, long address, long size, int perms) {
    return call(uc_mem_map$mh, uc, address, size, perms);
  }

  static int uc_mem_map_ptr(long uc, long address, long size, int perms, long host) {
    return call(uc_mem_map_ptr$mh, uc, address, size, perms, host);
  }

  static int uc_mem_unmap(long uc, long address, long size) {
    return call(uc_mem_unmap$mh, uc, address, size);
  }

  static int uc_mem_protect(long uc, long address, long size, int perms) {
    return call(uc_mem_protect$mh, uc, address, size, perms);
  }

  static int uc_mem_read(long uc, long address, MemorySegment bytes) {
    try {
      return (int) uc_mem_read$mh.invokeExact(uc, address, bytes, bytes.byteSize());
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  static int uc_mem_write(long uc, long address, MemorySegment bytes) {
    try {
      return (int) uc_mem_write$mh.invokeExact(uc, address, bytes, bytes.byteSize());
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  static int uc_reg_read(long uc, int register, long valueOut) {
    try {
      return (int) uc_reg_read$mh.invokeExact(uc, register, valueOut);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  static int uc_reg_write(long uc, int register, long value) {
    return call(uc_reg_write$mh, uc, register, value);
  }

  static int uc_reg_read_batch(long uc, long registers, long valuePointers, int count) {
    return call(uc_reg_read_batch$mh, uc, registers, valuePointers, count);
  }

  static int uc_reg_write_batch(long uc, long registers, long valuePointers, int count) {
    return call(uc_reg_write_batch$mh, uc, registers, valuePointers, count);
  }

  static int uc_emu_start(long uc, long begin, long until) {
    return call(uc_emu_start$mh, uc, begin, until, 0, 0);
  }

  static int uc_emu_stop(long uc) {
    return call(uc_emu_stop$mh, uc);
  }

  static int uc_hook_add(
      long uc, long hookOut, int type, long callback, long userData, long begin, long end) {
    try {
      return (int)
          uc_hook_add$mh.invokeExact(uc, hookOut, (long) type, callback, userData, begin, end);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  static int uc_hook_add_insn(
      long uc, long hookOut, int type, long callback, long userData, int instruction) {
    try {
      return (int)
          uc_hook_add_insn$mh.invokeExact(
              uc, hookOut, (long) type, callback, userData, 1L, 0L, (long) instruction);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  static int uc_hook_del(long uc, long hook) {
    return call(uc_hook_del$mh, uc, hook);
  }

  static int uc_vmem_translate(long uc, long address, int prot, long physicalOut) {
    return call(uc_vmem_translate$mh, uc, address, prot, physicalOut);
  }

  static int uc_ctl(long uc, int control) {
    return call(uc_ctl$mh, uc, control);
  }

  static int uc_ctl(long uc, int control, int argument) {
    return call(uc_ctl_int$mh, uc, control, argument);
  }

  static int uc_ctl(long uc, int control, long argument) {
    return call(uc_ctl_long$mh, uc, control, argument);
  }

  static int uc_ctl(long uc, int control, long first, long second) {
    return call(uc_ctl_long_long$mh, uc, control, first, second);
  }

  static int uc_context_alloc(long uc, long contextOut) {
    return call(uc_context_alloc$mh, uc, contextOut);
  }

  static int uc_context_save(long uc, long context) {
    return call(uc_context_save$mh, uc, context);
  }

  static int uc_context_restore(long uc, long context) {
    return call(uc_context_restore$mh, uc, context);
  }

  static int uc_context_free(long context) {
    return call(uc_context_free$mh, context);
  }

  static long uc_context_size(long uc) {
    try {
      return (long) uc_context_size$mh.invokeExact(uc);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Returns what the library says of an error code. */
  static String errorText(int code) {
    try {
      return MEMORY.getString((long) uc_strerror$mh.invokeExact(code));
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Fills {@code struct uc_tlb_entry {uint64_t paddr; uc_prot perms;}}. */
  static void setTlbEntry(long entry, long paddr, int perms) {
    MEMORY.set(JAVA_LONG, entry, paddr);
    MEMORY.set(JAVA_INT, entry + Long.BYTES, perms);
  }

  private static int call(MethodHandle function, long a) {
    try {
      return (int) function.invokeExact(a);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  private static int call(MethodHandle function, long a, long b) {
    try {
      return (int) function.invokeExact(a, b);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  private static int call(MethodHandle function, long a, long b, long c) {
    try {
      return (int) function.invokeExact(a, b, c);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  private static int call(MethodHandle function, long a, long b, long c, long d) {
    try {
      return (int) function.invokeExact(a, b, c, d);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  private static int call(MethodHandle function, long a, long b, long c, long d, long e) {
    try {
      return (int) function.invokeExact(a, b, c, d, e);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** A downcall itself throws nothing; what arrives here is an error of the JVM. */
  private static RuntimeException unexpected(Throwable t) {
    if (t instanceof Error error) {
      throw error;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }
}
