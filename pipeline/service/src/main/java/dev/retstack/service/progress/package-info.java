/** A caller that waits for the end of cores is notified. */
package dev.retstack.service.progress;
