/** What the tests of this module and of those above it share: programs, images, code, seeds. */
package dev.retstack.machine.testing;
