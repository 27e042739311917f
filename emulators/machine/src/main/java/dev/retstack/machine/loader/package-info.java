/**
 * From a program's file to what a core can run: its ISA, the conventions by which its functions
 * call the counting function, and its call sites. {@link dev.retstack.machine.loader.elf} reads the
 * file.
 */
package dev.retstack.machine.loader;
