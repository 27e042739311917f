/** Which task and which interrupt of a core an entry or an exit belongs to. */
package dev.retstack.fleet.probe.task;
