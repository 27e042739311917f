/**
 * What the file descriptors of a program stand for, and which names it may use. A name leads to a
 * file of the host only if that file is below a folder which was allowed.
 */
package dev.retstack.machine.linux.file;
