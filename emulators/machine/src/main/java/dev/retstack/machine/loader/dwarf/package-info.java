/**
 * Where functions begin in their sources: the line tables and declarations of DWARF 2 to 5. Our own
 * reader, since images are hostile: what it takes in time and memory is bounded by the bytes of the
 * file.
 */
package dev.retstack.machine.loader.dwarf;
