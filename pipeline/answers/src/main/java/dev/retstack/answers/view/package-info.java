/** Every view as a table, and the lines around it. */
package dev.retstack.answers.view;
