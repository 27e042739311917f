/** The probe and the block hook in C, and its tables, which Java fills in. */
package dev.retstack.fleet.probe.nativec;
