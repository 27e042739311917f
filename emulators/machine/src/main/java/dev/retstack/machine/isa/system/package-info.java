/**
 * What stands around a program on an ISA, as data: numbers and registers of system calls, layouts
 * that the kernel writes, interrupts, and what the dynamic linker expects.
 */
package dev.retstack.machine.isa.system;
