package dev.retstack.fleet.zoo;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A call tree as text, one line per call with its marks: read from a tree file (with its shorthands
 * written out), or made from hijack records. Only what the tests need; shares nothing with the
 * pipeline's reconstruction.
 */
public record TreeText(List<String> lines) {
  private static final Pattern LINE =
      Pattern.compile("( *)(\\S+)(?: x(\\d+))?(?: \\^(\\d+))?((?: <tail \\S+)?(?: !\\w+)*)");

  private static final class Node {
    final String name;
    final Node parent;
    final List<Node> children = new ArrayList<>();
    final int level;
    final long selfPc;
    final long fp;
    String tailCaller = "";
    String mark = "";
    boolean tailedAway;

    Node(String name, Node parent, long selfPc, long fp) {
      this.name = name;
      this.parent = parent;
      this.selfPc = selfPc;
      this.fp = fp;
      this.level = parent == null ? 0 : parent.level + 1;
      if (parent != null) {
        parent.children.add(this);
      }
    }

    String text() {
      return "  ".repeat(level - 1) + name + tailCaller + mark;
    }
  }

  /** Reads a tree file and writes its repetitions and chains out. */
  static TreeText parse(List<String> text) {
    List<String> lines = new ArrayList<>();
    expand(text, 0, text.size(), 0, lines);
    return new TreeText(lines);
  }

  private static void expand(List<String> text, int from, int to, int deeper, List<String> into) {
    int at = from;
    while (at < to) {
      Matcher line = LINE.matcher(text.get(at));
      if (!line.matches()) {
        throw new IllegalArgumentException("tree line: " + text.get(at));
      }
      int end = at + 1;
      while (end < to && indent(text.get(end)) > line.group(1).length()) {
        end++;
      }
      int times = line.group(3) == null ? 1 : Integer.parseInt(line.group(3));
      int chain = line.group(4) == null ? 1 : Integer.parseInt(line.group(4));
      int level = line.group(1).length() + deeper;
      for (int i = 0; i < times; i++) {
        for (int j = 0; j < chain; j++) {
          into.add(" ".repeat(level + 2 * j) + line.group(2) + line.group(5));
        }
        expand(text, at + 1, end, deeper + 2 * (chain - 1), into);
      }
      at = end;
    }
  }

  private static int indent(String line) {
    return line.length() - line.stripLeading().length();
  }

  /** Rebuilds the tree that records show. */
  static TreeText of(RecordBatch records, ElfFile image, LongPredicate isHandler) {
    Node root = new Node("", null, 0, 0);
    List<Node> stack = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      boolean entry = records.kind[i] == RecordBatch.ENTRY;
      int depth = records.depth[i];
      leave(stack, entry ? depth : depth + 1);
      if (entry) {
        stack.add(enter(root, stack, records, i, image, isHandler));
      } else {
        Node node = stack.removeLast();
        if (node.selfPc != records.selfPc[i]) {
          throw new IllegalStateException("exit of another function than " + node.name);
        }
        if (node.fp != records.fp[i]) {
          node.mark += " !fp";
        }
      }
    }
    leave(stack, 0);
    List<String> lines = new ArrayList<>();
    Deque<Node> left = new ArrayDeque<>(root.children);
    while (!left.isEmpty()) { // a loop: trees may be thousands deep
      Node node = left.pop();
      lines.add(node.text());
      node.children.reversed().forEach(left::push);
    }
    return new TreeText(lines);
  }

  private static Node enter(
      Node root, List<Node> stack, RecordBatch r, int i, ElfFile image, LongPredicate isHandler) {
    if (r.depth[i] != stack.size()) {
      throw new IllegalStateException(
          "entry at depth %d of %d".formatted(r.depth[i], stack.size()));
    }
    String name = image.functionAt(r.selfPc[i]).orElseThrow().name();
    Node caller = stack.isEmpty() ? root : stack.getLast();
    if (!isHandler.test(r.fromPc[i])) {
      return new Node(name, caller, r.selfPc[i], r.fp[i]);
    }
    caller.tailedAway = true;
    Node node = new Node(name, caller.parent, r.selfPc[i], r.fp[i]);
    node.tailCaller = " <tail " + caller.name;
    return node;
  }

  private static void leave(List<Node> stack, int depth) {
    while (stack.size() > depth) {
      Node dead = stack.removeLast();
      if (!dead.tailedAway) {
        dead.mark += " !unwound";
      }
    }
  }
}
