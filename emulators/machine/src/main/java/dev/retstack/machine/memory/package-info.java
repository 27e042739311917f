/** The memory of one core: guest addresses, permissions, and how the engine sees them. */
package dev.retstack.machine.memory;
