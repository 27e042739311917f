/** What several verbs ask for, and the shapes in which they answer. */
package dev.retstack.cli.option;
