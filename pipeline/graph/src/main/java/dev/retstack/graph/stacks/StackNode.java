package dev.retstack.graph.stacks;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.limits.AnswerTooLargeException;
import dev.retstack.graph.report.SystemCallRows;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.totals.ContextKey;
import dev.retstack.graph.tree.Stacks;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.record.SignalContext;
import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What the calls of cores add up to by the names of the functions in their stacks. The outermost
 * node is all of them; tasks, ISAs or cores stand in it if they are asked for apart. Nesting can be
 * as deep as ret_stack: {@link #inOrder} walks it.
 */
public final class StackNode {
  /** Stands for what ran behind a loss. */
  public static final String UNKNOWN = "[unknown]";

  /** Stands for calls that have no nodes of theirs. */
  public static final String LEFT_OUT = "[left out]";

  /** Nodes of the stacks of a core whose calls are those of its tree. */
  private static final int NODES = 1 << 18;

  /** Nodes of one answer at most: each takes some 250 bytes, so they take an eighth of the heap. */
  private static final long ALL_NODES =
      Math.max(1 << 16, Runtime.getRuntime().maxMemory() / (8 * 250));

  /** What all nodes in one outermost node share. */
  private static final class Shared {
    private final Map<String, FunctionName> functions = new HashMap<>();
    private long nodes;

    private FunctionName noted(FunctionName function) {
      if (!function.others().isEmpty()) {
        function.addTo(functions);
      }
      return function;
    }

    /** The names by which nodes are shown that are functions of this name. */
    private Set<String> named(String function) {
      Set<String> names = new HashSet<>(Set.of(function));
      for (FunctionName one : functions.values()) {
        if (one.is(function::equals)) {
          names.add(one.shown());
        }
      }
      return names;
    }
  }

  private final String name;
  private final long place;
  private final Shared shared;
  private final Map<String, StackNode> below = new TreeMap<>();
  private long calls;
  private long self;
  private long total;
  private long callsBelow;
  private boolean leftOut;

  private StackNode(String name, long place, Shared shared) {
    this.name = name;
    this.place = place;
    this.shared = shared;
    if (++shared.nodes > ALL_NODES) {
      throw new AnswerTooLargeException(
          "these stacks have more than the %,d nodes that one answer holds".formatted(ALL_NODES),
          "ask for one session, core or time");
    }
  }

  /** What stands apart. */
  public enum Apart {
    /** Nothing: equal stacks of all cores are one. */
    NONE,
    /** Tasks by their names; interrupts are apart from what they interrupted. */
    TASK,
    ISA,
    CORE
  }

  /** A node, and which of all before it is the one that it stands in; -1 for none. */
  public record Placed(StackNode node, int parent) {}

  static StackNode all() {
    return new StackNode("all", 0, new Shared());
  }

  void add(CoreGraph core, TaskChoice tasks, Apart apart) {
    Stacks stacks = core.stacks(NODES);
    Long2ObjectMap<String> functions = new Long2ObjectOpenHashMap<>();
    StackNode[] nodes = new StackNode[stacks.size()];
    for (int i = 0; i < nodes.length; i++) {
      int parent = stacks.parent(i);
      if (parent == Stacks.NONE) {
        String task = core.taskName(stacks.value(i), stacks.instance(i));
        nodes[i] = tasks.has(stacks.value(i), task) ? outermost(core, task, apart) : null;
        continue;
      }
      boolean isInterrupt = !stacks.isLeftOut(i) && stacks.kind(i) == TreeKind.INTERRUPT;
      StackNode around =
          isInterrupt && apart == Apart.TASK && nodes[parent] != null
              ? below(ContextKey.INTERRUPTS_NAME)
              : nodes[parent];
      if (around != null) {
        nodes[i] = around.below(name(core, stacks, i, functions));
        nodes[i].leftOut |= stacks.isLeftOut(i);
        nodes[i].calls += stacks.calls(i);
        nodes[i].self += stacks.self(i);
      }
    }
  }

  private StackNode outermost(CoreGraph core, String task, Apart apart) {
    return switch (apart) {
      case NONE -> this;
      case TASK -> below(task);
      case ISA -> below(core.image().isa());
      case CORE -> below(core.key().core());
    };
  }

  private String name(CoreGraph core, Stacks stacks, int node, Long2ObjectMap<String> functions) {
    if (stacks.isLeftOut(node)) {
      return LEFT_OUT;
    }
    long value = stacks.value(node);
    return switch (stacks.kind(node)) {
      case SYSTEM_CALL -> "sys_" + SystemCallRows.name(core.image().systemCalls(), value);
      case INTERRUPT -> SignalContext.text(value);
      case LOSS -> UNKNOWN;
      case CALL, FUNCTION, MARK, SWITCH ->
          functions.computeIfAbsent(
              value, pc -> shared.noted(core.image().names().function(pc)).shown());
    };
  }

  StackNode below(String function) {
    return below.computeIfAbsent(function, one -> new StackNode(one, place(one), shared));
  }

  private long place(String function) {
    long hash = HashCommon.mix(place + 1);
    for (int i = 0; i < function.length(); i++) {
      hash = HashCommon.mix(hash ^ function.charAt(i));
    }
    return hash;
  }

  /** The node of this {@link #place} in this one, if it is there. */
  public Optional<StackNode> at(long wanted) {
    return inOrder().stream().map(Placed::node).filter(one -> one.place == wanted).findFirst();
  }

  /**
   * All calls of a function in this node as one, with what they called. A recursion counts once,
   * where it begins.
   *
   * @param function one of its names
   */
  public StackNode callees(String function) {
    List<Placed> nodes = inOrder();
    Set<String> named = shared.named(function);
    StackNode all = outermost(function, named, nodes);
    StackNode[] into = new StackNode[nodes.size()];
    for (int i = 1; i < into.length; i++) {
      StackNode node = nodes.get(i).node();
      StackNode around = into[nodes.get(i).parent()];
      boolean begins = around == null && named.contains(node.name);
      into[i] = begins ? all : around == null ? null : around.below(node.name);
      if (into[i] != null) {
        into[i].calls += node.calls;
        into[i].self += node.self;
        into[i].leftOut |= node.leftOut;
      }
    }
    all.sum();
    return all;
  }

  /**
   * These calls by caller: callers stand below what they called, with the calls and the time that
   * they brought.
   */
  public StackNode callers(String function) {
    List<Placed> nodes = inOrder();
    Set<String> named = shared.named(function);
    StackNode all = outermost(function, named, nodes);
    boolean[] inside = new boolean[nodes.size()];
    for (int i = 1; i < inside.length; i++) {
      int around = nodes.get(i).parent();
      StackNode node = nodes.get(i).node();
      inside[i] = inside[around] || named.contains(node.name);
      if (inside[i] && !inside[around]) {
        StackNode caller = all;
        for (int at = around; at > 0; at = nodes.get(at).parent()) {
          caller = caller.below(nodes.get(at).node().name);
        }
        caller.calls += node.calls;
        caller.self += node.total;
      }
    }
    all.sum();
    return all;
  }

  /** Is shown by the name that these nodes have, or as it was asked for if they have several. */
  private StackNode outermost(String function, Set<String> named, List<Placed> nodes) {
    List<String> found =
        nodes.stream()
            .skip(1)
            .map(placed -> placed.node().name)
            .filter(named::contains)
            .distinct()
            .limit(2)
            .toList();
    return new StackNode(found.size() == 1 ? found.getFirst() : function, 0, new Shared());
  }

  /** The functions of all cores that have other names. */
  public Collection<FunctionName> functions() {
    return Collections.unmodifiableCollection(shared.functions.values());
  }

  /** All cores are added. */
  void sum() {
    List<Placed> nodes = inOrder();
    for (Placed placed : nodes.reversed()) {
      StackNode node = placed.node();
      node.total += node.self;
      node.callsBelow += node.calls;
      if (placed.parent() >= 0) {
        StackNode parent = nodes.get(placed.parent()).node();
        parent.total += node.total;
        parent.callsBelow += node.callsBelow;
      }
    }
  }

  /** This node and all below it, each behind the one that it stands in. */
  public List<Placed> inOrder() {
    List<Placed> nodes = new ArrayList<>(List.of(new Placed(this, -1)));
    for (int i = 0; i < nodes.size(); i++) {
      for (StackNode node : nodes.get(i).node().below.values()) {
        nodes.add(new Placed(node, i));
      }
    }
    return nodes;
  }

  /** Name of the function, system call, interrupt, task, ISA or core. */
  public String name() {
    return name;
  }

  /** Distinguishes the stack from others below the same outermost node, whose place is 0. */
  public long place() {
    return place;
  }

  /** Nodes in it, by name. */
  public Collection<StackNode> below() {
    return Collections.unmodifiableCollection(below.values());
  }

  /** Calls of it in this stack. */
  public long calls() {
    return calls;
  }

  /** Time without that of the nodes below. */
  public long self() {
    return self;
  }

  /** Time with that of the nodes below. */
  public long total() {
    return total;
  }

  /** Calls of it and of the nodes in it. */
  public long callsBelow() {
    return callsBelow;
  }

  /** Whether calls are in it that have no nodes of theirs. */
  public boolean isLeftOut() {
    return leftOut;
  }
}
