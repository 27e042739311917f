/**
 * How what a user sees is written. A view states its columns once ({@link
 * dev.retstack.service.table.Table}) and what it says around them ({@link
 * dev.retstack.service.table.Document}); {@link dev.retstack.service.table.Format} writes it as
 * text, JSON or CSV. A new view is one table, a new form is one class.
 */
package dev.retstack.service.table;
