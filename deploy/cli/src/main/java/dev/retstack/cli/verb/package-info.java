/** Verbs that run a part of the path or look at an image; one file each. */
package dev.retstack.cli.verb;
