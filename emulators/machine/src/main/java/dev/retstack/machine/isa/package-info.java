/**
 * What differs between instruction sets, as data: one file for each family, gathered in {@link
 * dev.retstack.machine.isa.Isas}. Nothing outside this package asks which ISA it has before it:
 * what an ISA needs is a field of {@link dev.retstack.machine.isa.Isa}, or of one of its
 * {@linkplain dev.retstack.machine.isa.call.AbiCard cards}.
 */
package dev.retstack.machine.isa;
