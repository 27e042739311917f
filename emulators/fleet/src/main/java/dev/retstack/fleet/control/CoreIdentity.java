package dev.retstack.fleet.control;

import java.util.Map;

/**
 * What a {@link Selector} is held against.
 *
 * @param core name of the core
 * @param isa name of its ISA
 * @param image name of the program's file
 * @param labels that whoever started it gave it
 */
public record CoreIdentity(String core, String isa, String image, Map<String, String> labels) {
  public CoreIdentity {
    labels = Map.copyOf(labels);
  }
}
