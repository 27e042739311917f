/** What the tests of every module that emulates have in common. */
package dev.retstack.unicorn.testing;
