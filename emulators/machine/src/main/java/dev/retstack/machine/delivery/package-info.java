/** Runs the signal handlers of a program on its core. */
package dev.retstack.machine.delivery;
