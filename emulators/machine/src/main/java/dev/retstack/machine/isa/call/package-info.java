/**
 * What a compiler puts at the entry of a function, as data: how a call site looks, where it keeps
 * the calling address and the slot of the return address, and how one goes up the stack from there.
 * Each ISA fills in a {@linkplain dev.retstack.machine.isa.call.AbiCard card} for each convention.
 */
package dev.retstack.machine.isa.call;
