/** Signals and timers of a program: who gets which signal, and when. */
package dev.retstack.machine.linux.signal;
