package dev.retstack.unicorn;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.unicorn.HookSlots.Slot;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** The hooks of one engine. */
final class Hooks {
  private final long uc;
  private final Unicorn engine;
  private final MemorySegment out;
  private final Set<Hook> hooks = Collections.newSetFromMap(new IdentityHashMap<>());

  /** What C is handed: a pointer to an upcall. */
  private interface Registration {
    int add(long hookOut, long token);
  }

  Hooks(long uc, Unicorn engine, Arena arena) {
    this.uc = uc;
    this.engine = engine;
    out = arena.allocate(JAVA_LONG);
  }

  /** Adds a Java hook for a range of addresses; {@code begin > end} means everywhere. */
  Hook add(int type, long upcall, Object callback, long begin, long end) {
    return add(
        callback,
        (hookOut, token) -> NativeUnicorn.uc_hook_add(uc, hookOut, type, upcall, token, begin, end),
        type);
  }

  /** Adds a Java hook for an instruction. */
  Hook addInstruction(long upcall, Object callback, int instruction) {
    return add(
        callback,
        (hookOut, token) ->
            NativeUnicorn.uc_hook_add_insn(
                uc, hookOut, UcConst.UC_HOOK_INSN, upcall, token, instruction),
        UcConst.UC_HOOK_INSN);
  }

  /** Adds a hook in C. */
  Hook addNative(int type, MemorySegment callback, MemorySegment userData, long begin, long end) {
    UnicornException.check(
        NativeUnicorn.uc_hook_add(
            uc, out.address(), type, callback.address(), userData.address(), begin, end),
        "uc_hook_add",
        type);
    return remember(new MemorySegment[] {callback, userData});
  }

  /** A Java hook that C calls by itself, until the engine is closed. */
  NativeCallback callback(long upcall, Object callback) {
    Slot slot = HookSlots.add(engine, callback);
    hooks.add(new Hook(0, slot));
    return new NativeCallback(upcall, slot.token());
  }

  private Hook add(Object callback, Registration registration, int type) {
    java.util.Objects.requireNonNull(callback, "hook");
    Slot slot = HookSlots.add(engine, callback);
    int code = registration.add(out.address(), slot.token());
    if (code != 0) {
      HookSlots.remove(slot);
      throw UnicornException.of("uc_hook_add(type 0x%x)".formatted(type), code);
    }
    return remember(slot);
  }

  private Hook remember(Object resource) {
    Hook hook = new Hook(out.get(JAVA_LONG, 0), resource);
    hooks.add(hook);
    return hook;
  }

  void delete(Hook hook) {
    if (!hooks.remove(hook)) {
      throw new IllegalArgumentException("hook is not, or no longer, of this engine");
    }
    UnicornException.check(NativeUnicorn.uc_hook_del(uc, hook.handle), "uc_hook_del");
    release(hook);
  }

  /** Lets go of all hooks, after the engine was closed. */
  void releaseAll() {
    hooks.forEach(Hooks::release);
    hooks.clear();
  }

  private static void release(Hook hook) {
    if (hook.resource instanceof Slot slot) {
      HookSlots.remove(slot);
    }
  }
}
