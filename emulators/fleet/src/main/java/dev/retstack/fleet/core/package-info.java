/** One emulated core: its memory, its clock, its life from start to end. Knows no ISA by name. */
package dev.retstack.fleet.core;
