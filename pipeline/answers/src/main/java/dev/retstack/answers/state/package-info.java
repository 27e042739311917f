/** From chunks to what answers are made of: states, copies of them, and how far each core came. */
package dev.retstack.answers.state;
