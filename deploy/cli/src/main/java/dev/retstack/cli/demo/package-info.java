/** What {@code retstack demo} shows. */
package dev.retstack.cli.demo;
