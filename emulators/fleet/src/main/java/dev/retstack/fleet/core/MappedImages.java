package dev.retstack.fleet.core;

import dev.retstack.fleet.probe.Probe;
import dev.retstack.machine.linux.shared.MappedObjects;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The shared objects that stand in the memory of a core. Each change becomes a MAP or UNMAP record;
 * what is in force goes into keyframes.
 */
public final class MappedImages implements MappedObjects {
  private final List<String> ids = new ArrayList<>();
  private final List<Image> fresh = new ArrayList<>();

  /** By their first addresses: one MAP record each, without a time. */
  private final TreeMap<Long, RecordBatch> inForce = new TreeMap<>(Long::compareUnsigned);

  /** What changed before there was room for records. */
  private final List<RecordBatch> before = new ArrayList<>();

  private final boolean libraryCalls;
  private Probe probe;

  /**
   * None yet.
   *
   * @param libraryCalls true where calls of functions in other files are traced
   */
  MappedImages(boolean libraryCalls) {
    this.libraryCalls = libraryCalls;
  }

  @Override
  public void mapped(Mapped object) {
    int image = number(object.image());
    if (image < 0 || inForce.size() == Keyframe.MAPS_MOST) {
      return; // its functions keep the addresses at which they run
    }
    RecordBatch map = new RecordBatch(1);
    long link = object.base() - object.bias() - object.image().elf().bias();
    map.add(RecordBatch.MAP, 0, image, object.base(), object.length(), link, object.protection());
    inForce.put(object.base(), map);
    record(map);
  }

  @Override
  public void unmapped(long base, long length) {
    long end = base + length;
    boolean any = false;
    for (Map.Entry<Long, RecordBatch> one : List.copyOf(inForce.entrySet())) {
      RecordBatch map = one.getValue();
      long start = map.selfPc[0];
      long last = start + map.fromPc[0];
      if (Long.compareUnsigned(start, end) < 0 && Long.compareUnsigned(base, last) < 0) {
        any = true;
        inForce.remove(start);
        keep(map, start, Math.min(base, last));
        keep(map, Math.max(end, start), last);
      }
    }
    if (any) {
      RecordBatch unmap = new RecordBatch(1);
      unmap.add(RecordBatch.UNMAP, 0, 0, base, length, 0, 0);
      record(unmap);
    }
  }

  private void keep(RecordBatch map, long from, long to) {
    if (from < to) {
      RecordBatch part = new RecordBatch(1);
      part.addAll(map, 0, 1);
      part.selfPc[0] = from;
      part.fromPc[0] = to - from;
      part.retP[0] += from - map.selfPc[0];
      inForce.put(from, part);
    }
  }

  /** Number of an image; negative where there are too many. */
  private int number(LoadedImage image) {
    int known = ids.indexOf(image.elf().buildId());
    if (known >= 0 || ids.size() == Chunks.IMAGES_MAX) {
      return known;
    }
    ids.add(image.elf().buildId());
    fresh.add(asInFile(image));
    return ids.size() - 1;
  }

  /** What readers know of an image, with the addresses of its file. */
  private Image asInFile(LoadedImage image) {
    Image described = image.toSchema();
    if (libraryCalls && !image.conventions().isEmpty()) {
      ImageLayout.nameLibraryCalls(image, described);
    }
    long bias = image.elf().bias();
    if (bias != 0) { // the interpreter is placed when it is read
      described.getSymbols().forEach(s -> s.setAddress(s.getAddress() - bias));
      described.setMcountLoc(described.getMcountLoc().stream().map(pc -> pc - bias).toList());
      described.setCopiedReturns(
          described.getCopiedReturns().stream().map(pc -> pc - bias).toList());
    }
    return described;
  }

  private void record(RecordBatch change) {
    if (probe == null) {
      before.add(change);
    } else {
      probe.note(change);
    }
  }

  /** There is room for records from now on: those of what changed before come first. */
  void recordTo(Probe to) {
    if (probe == null) {
      probe = to;
      before.forEach(to::note);
      before.clear();
    }
  }

  /** Images that nobody took yet. */
  public List<Image> takeFresh() {
    List<Image> taken = List.copyOf(fresh);
    fresh.clear();
    return taken;
  }

  /** Build-ids of all images that were ever mapped, by their numbers in MAP records. */
  public List<String> ids() {
    return ids;
  }

  /** A keyframe with the mappings in force; null where records of them wait for room. */
  public Keyframe with(Keyframe stacks) {
    if (stacks == null || !before.isEmpty()) {
      return null;
    }
    if (inForce.isEmpty()) {
      return stacks;
    }
    RecordBatch maps = new RecordBatch(inForce.size());
    inForce.values().forEach(map -> maps.addAll(map, 0, 1));
    return stacks.withMaps(maps);
  }
}
