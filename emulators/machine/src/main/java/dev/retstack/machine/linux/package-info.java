/**
 * As much of Linux as a program needs: the first stack, system calls by name, one process with one
 * thread on one core. Everything is deterministic: the clock is the core's, random bytes come from
 * a seed, the host's files are out of reach unless allowed.
 *
 * <p>A system call is a line in the {@code register} method of its group: {@link
 * dev.retstack.machine.linux.FileCalls}, {@link dev.retstack.machine.linux.MemoryCalls}, {@link
 * dev.retstack.machine.linux.ProcessCalls}, {@link dev.retstack.machine.linux.ThreadCalls}, {@link
 * dev.retstack.machine.linux.SignalCalls}, {@link dev.retstack.machine.linux.TimeCalls}. A new
 * group is a file beside them. Its number on each architecture stands in schemas' {@code
 * system-calls.txt}; registers, constants and structures of the kernel are data of {@link
 * dev.retstack.machine.isa.system.SyscallAbi}. Nothing here knows an ISA or an engine. LINUX.md
 * lists what a program may do.
 */
package dev.retstack.machine.linux;
