/**
 * The {@code retstack} command. {@code verb} and {@code result} have one file per verb. The README
 * of this module lists the packages.
 */
package dev.retstack.cli;
