/**
 * What differs between instruction sets, as data: one file per ISA, gathered in {@link
 * dev.retstack.fleet.isa.Isas}. Nothing outside this package asks which ISA it has before it.
 */
package dev.retstack.fleet.isa;
