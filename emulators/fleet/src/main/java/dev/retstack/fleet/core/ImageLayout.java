package dev.retstack.fleet.core;

import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.loader.LibraryCalls;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Segment;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.machine.memory.Ram;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The addresses of an image and of the tracer's page in guest memory, which are the same on every
 * core.
 */
public final class ImageLayout {
  private ImageLayout() {}

  /** Address of the landing page of an image. */
  public static long landingPage(ElfFile image) {
    List<LandingPage.Range> taken = new ArrayList<>();
    for (Segment segment : image.segments()) {
      taken.add(new LandingPage.Range(segment.address(), segment.memoryBytes()));
    }
    return LandingPage.place(taken);
  }

  /** Describes an image whose tasks have no names. */
  public static Image describe(LoadedImage image) {
    return describe(image, false);
  }

  /**
   * What readers of the trace must know of an image, with its landing page.
   *
   * @param namesTasks true where the addresses of variables may be tasks
   */
  public static Image describe(LoadedImage image, boolean namesTasks) {
    Image described = image.toSchema();
    long start = landingPage(image.elf());
    described.setReturnToHandlerStart(start);
    described.setReturnToHandlerEnd(LandingPage.endOf(start, image.isa()));
    if (namesTasks) {
      described.setObjects(
          image.elf().objects().stream()
              .map(s -> new Symbol(s.name(), s.address(), s.size()))
              .toList());
    }
    return described;
  }

  /** Names the places where functions of other files are entered. */
  public static void nameLibraryCalls(LoadedImage image, Image described) {
    List<Symbol> all = new ArrayList<>(described.getSymbols());
    image
        .libraryCalls()
        .all()
        .map(LibraryCalls.Place::symbol)
        .forEach(s -> all.add(new Symbol(s.name(), s.address(), s.size())));
    described.setSymbols(all);
  }

  /**
   * Maps the segments and fills them. A page that two segments share gets the permissions of both.
   *
   * @param readImpliesExecute true where what may be read may be executed
   */
  static void load(ElfFile image, GuestMemory memory, boolean readImpliesExecute) {
    for (Segment segment : image.segments()) {
      mapMissing(
          memory, GuestMemory.pageDown(segment.address()), GuestMemory.pageUp(segment.end()));
      memory.write(segment.address(), MemorySegment.ofBuffer(segment.data()));
    }
    for (Segment segment : image.segments()) {
      long end = GuestMemory.pageUp(segment.end());
      for (long page = GuestMemory.pageDown(segment.address());
          page != end;
          page += GuestMemory.PAGE) {
        int perms = permissions(image, page);
        boolean more = readImpliesExecute && (perms & GuestMemory.READ) != 0;
        memory.protect(page, GuestMemory.PAGE, more ? perms | GuestMemory.EXECUTE : perms);
      }
    }
  }

  /**
   * Maps the interpreter of a program.
   *
   * @throws IllegalArgumentException where the program stands in its place
   */
  static void loadInterpreter(
      ElfFile image, ElfFile interpreter, GuestMemory memory, boolean readImpliesExecute) {
    long start = interpreter.segments().getFirst().address();
    long size = interpreter.segments().getLast().end() - start;
    if (memory.overlaps(start, size)) {
      throw new IllegalArgumentException(
          "%s stands at 0x%x, where its interpreter %s belongs: link it elsewhere"
              .formatted(image.name(), start, interpreter.name()));
    }
    load(interpreter, memory, readImpliesExecute);
  }

  private static void mapMissing(GuestMemory memory, long start, long end) {
    long from = start;
    while (from != end && memory.isMapped(from, GuestMemory.PAGE)) {
      from += GuestMemory.PAGE;
    }
    if (from != end) {
      memory.map(from, end - from, GuestMemory.READ | GuestMemory.WRITE);
    }
  }

  private static int permissions(ElfFile image, long page) {
    int perms = 0;
    for (Segment segment : image.segments()) {
      LandingPage.Range range = new LandingPage.Range(segment.address(), segment.memoryBytes());
      if (range.overlaps(page, GuestMemory.PAGE)) {
        perms |= segment.readable() ? GuestMemory.READ : 0;
        perms |= segment.writable() ? GuestMemory.WRITE : 0;
        perms |= segment.executable() ? GuestMemory.EXECUTE : 0;
      }
    }
    return perms;
  }

  /** Maps memory beside the image. */
  static void addRam(Ram ram, ElfFile image, LandingPage landing, GuestMemory memory) {
    if (memory.overlaps(ram.base(), ram.size())) {
      throw new IllegalArgumentException(
          "ram 0x%x:0x%x overlaps %s or the tracer's page at 0x%x: choose another range"
              .formatted(ram.base(), ram.size(), image.name(), landing.start()));
    }
    memory.map(ram.base(), ram.size(), GuestMemory.READ | GuestMemory.WRITE | GuestMemory.EXECUTE);
  }
}
