package dev.retstack.machine.loader.elf;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** Names an image by its content: the linker's build-id note, or a digest of the whole file. */
final class BuildId {
  private static final int DESCRIPTION_BYTES_MAX = 64;

  private BuildId() {}

  static String of(ElfBytes bytes, List<SegmentTable.FileRange> notes, byte[] content)
      throws ElfFormatException {
    for (SegmentTable.FileRange range : notes) {
      Optional<String> id = inNotes(bytes.slice(range.offset(), range.size(), "notes"));
      if (id.isPresent()) {
        return id.get();
      }
    }
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      return "sha256:" + HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Walks notes: name size, description size, type, name and description padded to 4 bytes. */
  private static Optional<String> inNotes(ByteBuffer notes) {
    long at = 0;
    while (at + 12 <= notes.capacity()) {
      long nameSize = notes.getInt((int) at) & 0xFFFF_FFFFL;
      long descriptionSize = notes.getInt((int) at + 4) & 0xFFFF_FFFFL;
      int type = notes.getInt((int) at + 8);
      long description = at + 12 + padded(nameSize);
      long next = description + padded(descriptionSize);
      if (description + descriptionSize > notes.capacity()) {
        return Optional.empty();
      }
      if (type == Elf.NT_GNU_BUILD_ID
          && descriptionSize > 0
          && descriptionSize <= DESCRIPTION_BYTES_MAX
          && isGnu(notes, (int) at + 12, nameSize)) {
        byte[] id = new byte[(int) descriptionSize];
        notes.get((int) description, id);
        return Optional.of(HexFormat.of().formatHex(id));
      }
      at = next;
    }
    return Optional.empty();
  }

  private static boolean isGnu(ByteBuffer notes, int at, long size) {
    return size == 4
        && notes.get(at) == 'G'
        && notes.get(at + 1) == 'N'
        && notes.get(at + 2) == 'U'
        && notes.get(at + 3) == 0;
  }

  private static long padded(long size) {
    return (size + 3) & ~3L;
  }
}
