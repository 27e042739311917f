/** The interrupt controller of a core: when, where and how the program is interrupted. */
package dev.retstack.fleet.core.interrupt;
