/** A window of a core of a running job: its chunks are read again from the log. */
package dev.retstack.service.window;
