package dev.retstack.machine.isa.sigframe;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The shared object of the kernel ("vDSO") of an ISA whose C libraries and unwinders ask it where a
 * handler returns, and where the frame has the registers. Elsewhere they know the code of {@link
 * SignalAbi#trampoline} itself.
 *
 * @param name its {@code DT_SONAME}
 * @param functions offsets into {@link SignalAbi#trampoline}
 * @param stackColumn the stack pointer, by its number in unwind tables
 * @param returnColumn a number that no register has that a program saves: where the handler came
 * @param columns the numbers of registers in unwind tables: several for one whose parts have
 *     numbers
 */
public record KernelObject(
    String name,
    SortedMap<String, Integer> functions,
    int stackColumn,
    int returnColumn,
    Map<Integer, List<Integer>> columns) {
  public KernelObject {
    functions = Collections.unmodifiableSortedMap(new TreeMap<>(functions));
    columns = Map.copyOf(columns);
  }
}
