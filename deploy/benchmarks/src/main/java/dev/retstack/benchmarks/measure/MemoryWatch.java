package dev.retstack.benchmarks.measure;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * The most memory that this process holds while it is watched: heap in use after a collection, and
 * pages of the machine. Looks when a collection ends and when it is asked.
 */
public final class MemoryWatch implements AutoCloseable {
  private static final double MIB = 1 << 20;
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String RESIDENT = "VmRSS:";

  private static final Set<String> HEAP_POOLS =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP)
          .map(MemoryPoolMXBean::getName)
          .collect(Collectors.toUnmodifiableSet());

  private final List<NotificationEmitter> collectors = new ArrayList<>();
  private final NotificationListener listener = (notification, _) -> collected(notification);
  private long heapBytes;
  private long residentKib;

  private MemoryWatch() {}

  /** Begins to watch. */
  public static MemoryWatch start() {
    MemoryWatch watch = new MemoryWatch();
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter emitter) {
        emitter.addNotificationListener(watch.listener, null, null);
        watch.collectors.add(emitter);
      }
    }
    return watch;
  }

  private synchronized void collected(Notification notification) {
    if (notification.getUserData() instanceof CompositeData data) {
      long used =
          GarbageCollectionNotificationInfo.from(data)
              .getGcInfo()
              .getMemoryUsageAfterGc()
              .entrySet()
              .stream()
              .filter(pool -> HEAP_POOLS.contains(pool.getKey()))
              .mapToLong(pool -> pool.getValue().getUsed())
              .sum();
      heapBytes = Math.max(heapBytes, used);
      look();
    }
  }

  private synchronized void look() {
    try {
      for (String line : Files.readAllLines(STATUS)) {
        if (line.startsWith(RESIDENT)) {
          long kib = Long.parseLong(line.replaceAll("[^0-9]", ""));
          residentKib = Math.max(residentKib, kib);
        }
      }
    } catch (IOException e) {
      // not Linux: the figure stays 0
    }
  }

  /** The two figures, MiB each. */
  public synchronized List<Measure> measures(String stage, String subject) {
    look();
    return List.of(
        new Measure(stage, subject, "heapAfterCollectionMibMax", heapBytes / MIB),
        new Measure(stage, subject, "residentMibMax", residentKib * 1024 / MIB));
  }

  @Override
  public void close() {
    for (NotificationEmitter collector : collectors) {
      try {
        collector.removeNotificationListener(listener);
      } catch (ListenerNotFoundException e) {
        throw new IllegalStateException("it was added by this watch", e);
      }
    }
  }
}
