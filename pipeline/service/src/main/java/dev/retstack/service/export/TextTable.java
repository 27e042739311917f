package dev.retstack.service.export;

import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Rows in columns as wide as their longest cell. A heading that ends in {@code >} aligns right. */
final class TextTable {
  private static final String GAP = "  ";

  /** Columns are as wide as this at most: one long name in many rows would fill the disk. */
  private static final int WIDTH_MAX = 200;

  private final List<String[]> rows = new ArrayList<>();
  private final boolean[] right;
  private final int[] width;

  TextTable(String... headings) {
    right = new boolean[headings.length];
    width = new int[headings.length];
    String[] head = headings.clone();
    for (int i = 0; i < head.length; i++) {
      right[i] = head[i].endsWith(">");
      head[i] = right[i] ? head[i].substring(0, head[i].length() - 1) : head[i];
    }
    row(head);
  }

  void row(String... given) {
    String[] cells = given.clone();
    for (int i = 0; i < cells.length; i++) {
      cells[i] = Visible.line(cells[i]);
      width[i] = Math.max(width[i], Math.min(cells[i].length(), WIDTH_MAX));
    }
    rows.add(cells);
  }

  void write(Appendable out) throws IOException {
    for (String[] cells : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < cells.length; i++) {
        String pad = " ".repeat(Math.max(0, width[i] - cells[i].length()));
        line.append(i == 0 ? "" : GAP);
        line.append(right[i] ? pad + cells[i] : cells[i] + pad);
      }
      out.append(line.toString().stripTrailing()).append('\n');
    }
  }
}
