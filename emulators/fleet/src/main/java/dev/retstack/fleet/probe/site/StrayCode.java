package dev.retstack.fleet.probe.site;

import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.memory.GuestMemory;
import java.util.List;

/**
 * Code that runs in a program's memory where its file has none: it was copied there, and its calls
 * are not traced. Of what system calls map, and of stacks, nothing is said here.
 */
public final class StrayCode {
  private static final int WRITTEN_AND_RUN = GuestMemory.WRITE | GuestMemory.EXECUTE;

  private final LoadedImage image;
  private final List<LandingPage.Range> ram;
  private long low = -1;
  private long high;
  private long blocks;

  /**
   * None yet.
   *
   * @param ram memory beside that of the image
   */
  public StrayCode(LoadedImage image, List<LandingPage.Range> ram) {
    this.image = image;
    this.ram = List.copyOf(ram);
  }

  /** A block is run for the first time. */
  void meet(long address, GuestMemory memory) {
    boolean isThere =
        image.elf().executableAt(address) || ram.stream().anyMatch(r -> r.overlaps(address, 1));
    if (isThere
        && (memory.permissionsAt(address) & WRITTEN_AND_RUN) == WRITTEN_AND_RUN
        && !image.elf().hasCodeAt(address)) {
      low = Long.compareUnsigned(address, low) < 0 ? address : low;
      high = Long.compareUnsigned(address, high) > 0 ? address : high;
      blocks++;
    }
  }

  /** What the program's user must know, a line; none where all code was the file's. */
  public List<String> lines() {
    return blocks == 0
        ? List.of()
        : List.of(
            "code ran at 0x%x to 0x%x, where %s has none (%,d %s): calls in what is copied there are not traced; link functions to where they run (\"AT>ROM\"), or call the originals"
                .formatted(
                    low, high, image.elf().name(), blocks, blocks == 1 ? "block" : "blocks"));
  }
}
