package dev.retstack.fleet.probe;

import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.site.SitePatcher;
import dev.retstack.fleet.probe.task.StackRegions;
import dev.retstack.fleet.probe.task.TaskRules;
import java.util.Optional;

/**
 * What a probe is to do, whichever it is.
 *
 * @param points where the functions of the image are entered; nowhere in an untraced run
 * @param patcher has the calls that the probe in C goes without
 * @param regions where one stack may end and another begin
 * @param tasks which task runs, if the image shows it
 * @param host what the times of records are; empty: virtual time
 * @param retStackLimit most hijacked returns at a time, in each context
 * @param checkReturns true looks for returns by an overwritten slot at each block
 */
public record ProbePlan(
    EntryPoints points,
    SitePatcher patcher,
    StackRegions regions,
    TaskRules tasks,
    Optional<HostClock> host,
    int retStackLimit,
    boolean checkReturns) {}
