/**
 * As much of Linux as a static program needs: the first stack, system calls by name, one process
 * with one thread on one core. Everything is deterministic: the clock is the core's, random bytes
 * come from a seed, the host's files are out of reach unless allowed.
 *
 * <p>Works on {@link dev.retstack.fleet.core.GuestMemory} and the registers that {@link
 * dev.retstack.fleet.isa.SyscallAbi} names; knows no ISA and no engine. LINUX.md lists what a
 * program may do.
 */
package dev.retstack.fleet.linux;
