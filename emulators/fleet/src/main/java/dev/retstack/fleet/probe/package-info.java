/**
 * The contract of a probe: it makes records of what happens at the entry of a function, and at its
 * return to the landing page. Contains no knowledge of any ISA: the {@link
 * dev.retstack.machine.isa.call.AbiCard} has it.
 */
package dev.retstack.fleet.probe;
