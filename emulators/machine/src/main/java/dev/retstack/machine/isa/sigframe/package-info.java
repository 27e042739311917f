/** How Linux calls the signal handlers of an ISA, as data. */
package dev.retstack.machine.isa.sigframe;
