/** What both sides know of Linux: names of system calls. */
package dev.retstack.schema.linux;
