/** The first functions of many states, merged without their reports. */
package dev.retstack.graph.top;
