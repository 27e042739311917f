/** The frames of a ret_stack: the contract that both probes meet, and frames taken for dead. */
package dev.retstack.fleet.probe.frame;
