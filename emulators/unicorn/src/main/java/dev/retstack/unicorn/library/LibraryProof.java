package dev.retstack.unicorn.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/**
 * A note beside a library that it has a SHA-256, so that a start need not read 25 MB. It names the
 * file as it was then: device, inode, size, and the times of its last change. No program can set
 * the time of the last change of an inode, so a file that was written since is seen.
 *
 * <p>The note is believed only if no other user could have written it: note and folder belong to
 * this user, and neither the group nor others may write to them. Elsewhere, and where the system
 * does not report these facts, the library is read at each start.
 */
record LibraryProof(Path library, String sha256, String identity) {
  private static final int OTHERS_MAY_WRITE = 0b010_010;

  /** What is true of a library now. Make it before the library is read. */
  static LibraryProof of(Path library, String sha256) {
    return new LibraryProof(library, sha256, identity(library));
  }

  /** Returns whether an earlier start saw this content in this file. */
  boolean holds() {
    try {
      return isOurs(library.toAbsolutePath().getParent())
          && isOurs(note())
          && Files.readString(note()).equals(text());
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException _) {
      return false;
    }
  }

  /** Keeps the proof, unless the library changed meanwhile, for the next start. */
  void keep() {
    if (identity.isEmpty() || !identity.equals(identity(library))) {
      return;
    }
    try {
      Path unfinished =
          Files.createTempFile(note().getParent(), "proof", null); // of this user alone
      try {
        Files.writeString(unfinished, text());
        Files.move(unfinished, note(), StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(unfinished);
      }
    } catch (IOException | UnsupportedOperationException _) {
      // a folder that takes no file: the next start reads the library again
    }
  }

  private Path note() {
    return library.toAbsolutePath().resolveSibling(library.getFileName() + ".proof");
  }

  private String text() {
    return sha256 + " " + identity + "\n";
  }

  /** Identity of the file and of its last change; empty where the system does not report them. */
  private static String identity(Path file) {
    try {
      Map<String, Object> facts =
          Files.readAttributes(file, "unix:dev,ino,size,lastModifiedTime,ctime");
      return "device %s inode %s size %s written %s changed %s"
          .formatted(
              facts.get("dev"),
              facts.get("ino"),
              facts.get("size"),
              facts.get("lastModifiedTime"),
              facts.get("ctime"));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException _) {
      return "";
    }
  }

  private static boolean isOurs(Path file) throws IOException {
    Map<String, Object> facts =
        Files.readAttributes(file, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
    return facts.get("uid").equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))
        && ((int) facts.get("mode") & OTHERS_MAY_WRITE) == 0;
  }
}
