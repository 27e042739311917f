/** The threads of a program that share one core: which runs, and which waits for what. */
package dev.retstack.machine.linux.thread;
