/** Call trees in the forms of people and of other tools. */
package dev.retstack.answers.export;
