package dev.retstack.graph.report;

/**
 * Totals of one system call on one ISA.
 *
 * @param session as of a {@link FunctionRow}
 * @param name as Linux names it; its number where unknown
 * @param calls begun
 * @param errors ended with an error number
 * @param total time of all that returned, in the report's unit
 */
public record SystemCallRow(
    String session, String name, String isa, long calls, long errors, long total) {}
