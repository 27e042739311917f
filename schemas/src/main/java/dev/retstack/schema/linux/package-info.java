/** What both sides of Kafka know of Linux: the names of system calls. */
package dev.retstack.schema.linux;
