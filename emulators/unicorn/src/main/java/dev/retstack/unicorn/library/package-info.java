/** The shared library: where it is, which one it is, and the door to its functions and memory. */
package dev.retstack.unicorn.library;
