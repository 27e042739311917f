/**
 * How what a user sees is written. A view states its columns once ({@link
 * dev.retstack.answers.table.Table}) and what it says around them ({@link
 * dev.retstack.answers.table.Document}); {@link dev.retstack.answers.table.Format} writes it as
 * text, JSON or CSV. A new view is one table, a new form is one class.
 */
package dev.retstack.answers.table;
