/**
 * As much of Linux as a program needs: the first stack, system calls by name, one process with one
 * thread on one core. Everything is deterministic: the clock is the core's, random bytes come from
 * a seed, the host's files are out of reach unless allowed.
 *
 * <p>A system call is a line in the {@code register} method of its group: {@link
 * dev.retstack.fleet.linux.FileCalls}, {@link dev.retstack.fleet.linux.MemoryCalls}, {@link
 * dev.retstack.fleet.linux.ProcessCalls}, {@link dev.retstack.fleet.linux.ThreadCalls}, {@link
 * dev.retstack.fleet.linux.SignalCalls}, {@link dev.retstack.fleet.linux.TimeCalls}. A new group is
 * a file beside them. Its number on each architecture stands in schemas' {@code system-calls.txt};
 * registers, constants and structures of the kernel are data of {@link
 * dev.retstack.fleet.isa.system.SyscallAbi}. Nothing here knows an ISA or an engine. LINUX.md lists
 * what a program may do.
 */
package dev.retstack.fleet.linux;
