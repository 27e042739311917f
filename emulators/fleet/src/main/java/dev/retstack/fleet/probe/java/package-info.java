/** The probe and the block hook in Java: the reference for the probe in C. */
package dev.retstack.fleet.probe.java;
