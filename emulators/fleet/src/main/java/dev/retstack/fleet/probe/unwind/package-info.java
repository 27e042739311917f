/** Frames that are left in another way than by a return to the tracer's code. */
package dev.retstack.fleet.probe.unwind;
