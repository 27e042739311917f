/**
 * One emulated core: its life from start to end, its options, and what stops it. Nothing here knows
 * an ISA.
 */
package dev.retstack.fleet.core;
