package dev.retstack.fleet.zoo;

import dev.retstack.fleet.core.Core;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The call tree of a program as it can be told without a tracer: from blocks, symbols, the stack
 * pointer, and where the ISA has a return address at a function's first instruction. Runs the image
 * untraced; shares neither cards nor call sites, hijacked returns or ret_stack with the probes.
 *
 * <ul>
 *   <li>A function is called when its first instruction runs. It returns when a block begins at the
 *       return address that it was called with, the stack pointer back where it was.
 *   <li>It was jumped to (a tail call) when the function on top was to return to the same place at
 *       the same stack pointer: two calls can never be open with both equal.
 *   <li>Frames below the stack pointer died without a return. After {@code zoo_longjmp} those at
 *       the stack pointer died as well: who called setjmp has a frame of its own, above it.
 * </ul>
 *
 * Where the engine calls a hook twice for one call: as told at {@link Counter}.
 */
final class BlockOracle {
  private static final class Frame {
    final Frame around;
    final String name;
    final long returnsTo;
    final long sp;
    final int line;
    final int level;
    boolean gaveWay;

    Frame(Frame around, String name, long returnsTo, long sp, int line) {
      this.around = around;
      this.name = name;
      this.returnsTo = returnsTo;
      this.sp = sp;
      this.line = line;
      this.level = around == null ? 0 : around.level + 1;
    }
  }

  private final LoadedImage image;
  private final Isa isa;
  private final Symbol leap;
  private final Long2ObjectOpenHashMap<String> functions = new Long2ObjectOpenHashMap<>();
  private final List<Frame> stack = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();
  private Core core;
  private long last = -1;
  private boolean leapt;

  private BlockOracle(LoadedImage image, Collection<String> names) {
    this.image = image;
    this.isa = image.isa();
    leap = image.elf().symbol("zoo_longjmp").orElseThrow();
    for (String name : names) {
      functions.put(image.elf().symbol(name).orElseThrow().entry(), name);
    }
  }

  /**
   * What a program did.
   *
   * @param tree its calls
   * @param run untraced
   */
  record Told(TreeText tree, Run run) {}

  /**
   * Runs a program.
   *
   * @param functions names of those that stand in the tree
   */
  static Told watch(LoadedImage image, Collection<String> functions, String... arguments) {
    BlockOracle oracle = new BlockOracle(image, functions);
    Run run = Run.of(image, Run.options().withTraced(false), 1_000_000, oracle::watch, arguments);
    while (!oracle.stack.isEmpty()) {
      oracle.died();
    }
    return new Told(new TreeText(oracle.lines), run);
  }

  private void watch(Core opened) {
    core = opened;
    core.engine().hook_add_block((address, size) -> block(address), 1, 0);
    for (long entry : functions.keySet().toLongArray()) {
      core.engine().hook_add_code((address, size) -> first(address), entry, entry);
    }
  }

  private void block(long address) {
    last = address == last ? address : -1;
    long sp = core.engine().reg_read(isa.registers().sp());
    if (address >= leap.address() && address < leap.address() + leap.size()) {
      leapt = true;
      return;
    }
    while (leapt && !stack.isEmpty() && stack.getLast().sp <= sp) {
      died();
    }
    leapt = false;
    while (!stack.isEmpty() && stack.getLast().sp <= sp) {
      if (isReturn(address - stack.getLast().returnsTo)) {
        stack.removeLast();
      } else if (stack.getLast().sp < sp) {
        died();
      } else {
        break;
      }
    }
  }

  /** SPARC's callers of functions that return a struct have a word behind the delay slot. */
  private boolean isReturn(long further) {
    return further == 0 || (further == Integer.BYTES && isa.addresses().linkBias() != 0);
  }

  private void first(long address) {
    if (address == last) {
      return;
    }
    last = address;
    long sp = core.engine().reg_read(isa.registers().sp());
    long returnsTo = returnAddress(sp);
    Frame around = stack.isEmpty() ? null : stack.getLast();
    String tail = "";
    if (around != null && around.returnsTo == returnsTo && around.sp == sp) {
      around.gaveWay = true;
      tail = " <tail " + around.name;
      around = around.around;
    }
    Frame frame = new Frame(around, functions.get(address), returnsTo, sp, lines.size());
    lines.add("  ".repeat(frame.level) + frame.name + tail);
    stack.add(frame);
  }

  private long returnAddress(long sp) {
    if (!isa.pushesReturnAddress()) {
      long link = core.engine().reg_read(isa.registers().link());
      return isa.addresses().instruction(link) + isa.addresses().linkBias();
    }
    byte[] word = new byte[isa.wordBytes()];
    core.engine().mem_read(sp, word);
    ByteBuffer bytes = ByteBuffer.wrap(word).order(image.elf().order());
    return word.length == Long.BYTES ? bytes.getLong() : Integer.toUnsignedLong(bytes.getInt());
  }

  private void died() {
    Frame dead = stack.removeLast();
    if (!dead.gaveWay) {
      lines.set(dead.line, lines.get(dead.line) + " !unwound");
    }
  }
}
