/**
 * The shared objects of a dynamically linked program: where they are on the host, which the program
 * may read, and which it has mapped.
 */
package dev.retstack.machine.linux.shared;
