package dev.retstack.fleet.linux.shared;

import dev.retstack.fleet.memory.GuestMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which mappings of a process are of which files. */
public final class MappedFiles {
  /**
   * Pages of a file.
   *
   * @param offset of the first in the file
   * @param inode of the file
   * @param name of the file, as the program knows it
   * @param shared true where others would see what is written there
   */
  public record Piece(long start, long end, long offset, long inode, String name, boolean shared) {
    public boolean has(long address) {
      return Long.compareUnsigned(address - start, end - start) < 0;
    }

    private Piece part(long from, long to) {
      return new Piece(from, to, offset + (from - start), inode, name, shared);
    }
  }

  private final List<Piece> pieces = new ArrayList<>();

  /** A file was mapped where nothing was. */
  public void add(Piece piece) {
    pieces.add(piece);
  }

  /** Memory was unmapped. */
  public void remove(long start, long length) {
    long end = start + GuestMemory.pageUp(length);
    for (Piece piece : List.copyOf(pieces)) {
      long from = Math.max(start, piece.start);
      long to = Math.min(end, piece.end);
      if (from < to) {
        pieces.remove(piece);
        if (piece.start < from) {
          pieces.add(piece.part(piece.start, from));
        }
        if (to < piece.end) {
          pieces.add(piece.part(to, piece.end));
        }
      }
    }
  }

  /** The one that holds an address. */
  public Optional<Piece> at(long address) {
    return pieces.stream().filter(piece -> piece.has(address)).findFirst();
  }
}
