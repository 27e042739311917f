package dev.retstack.graph.report;

/**
 * Totals of the calls from one function to another; the fields are those of {@link FunctionRow}.
 *
 * @param caller name of the caller
 * @param callee name of the callee
 */
public record EdgeRow(
    String caller,
    String callee,
    long callerPc,
    long calleePc,
    String image,
    String imageId,
    String isa,
    long calls,
    long finished,
    long total,
    long self,
    long min,
    long max) {}
