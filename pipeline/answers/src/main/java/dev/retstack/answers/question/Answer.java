package dev.retstack.answers.question;

import dev.retstack.answers.http.Page;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Rendering;
import java.util.Optional;

/**
 * An answer that is not written yet.
 *
 * @param page which part of the rows it holds, where it has rows that can be had in parts
 */
record Answer(Rendering view, Format format, Optional<Page<?>> page) {}
