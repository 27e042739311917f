package dev.retstack.cli.fleet;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.machine.loader.LoadedImage;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Cores that run in the same way: those of a command line, or a group of a fleet file.
 *
 * @param name first part of their names, {@code NAME-0}; empty: each is named after its image
 * @param images what they run
 * @param cores of each image
 * @param entry where they begin instead of the images' own entry points
 * @param arguments of the program, without its name
 * @param stdin file with its standard input; empty: ours for a single core, else none
 * @param labels by which commands select them
 * @param options everything else; its arguments and streams are still to come
 */
public record CoreGroup(
    Optional<String> name,
    List<LoadedImage> images,
    int cores,
    Optional<String> entry,
    List<String> arguments,
    Optional<Path> stdin,
    Map<String, String> labels,
    CoreOptions options) {
  public CoreGroup {
    images = List.copyOf(images);
    arguments = List.copyOf(arguments);
    labels = Map.copyOf(labels);
  }

  /** How many cores it is. */
  public long size() {
    return (long) images.size() * cores;
  }
}
