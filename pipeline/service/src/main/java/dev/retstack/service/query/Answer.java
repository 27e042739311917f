package dev.retstack.service.query;

import dev.retstack.service.http.Page;
import dev.retstack.service.table.Format;
import dev.retstack.service.table.Rendering;
import java.util.Optional;

/**
 * An answer that is not written yet.
 *
 * @param page which part of the rows it holds, where it has rows that can be had in parts
 */
record Answer(Rendering view, Format format, Optional<Page<?>> page) {}
