package dev.retstack.graph.coverage;

import java.util.List;

/**
 * Which functions of an image were entered.
 *
 * @param image file name
 * @param imageId build-id
 * @param session whose calls these are; empty where they are those of all
 * @param cores that ran it, or called it beside their own image
 * @param beside whether it is a shared object: its cores count with the image that they ran
 * @param functions with a call site, by address
 */
public record ImageCoverage(
    String image,
    String imageId,
    String isa,
    String session,
    int cores,
    boolean beside,
    List<FunctionCoverage> functions) {
  public ImageCoverage {
    functions = List.copyOf(functions);
  }

  /** Functions that were entered. */
  public long hit() {
    return functions.stream().filter(FunctionCoverage::hit).count();
  }

  /** Part of a whole in percent; 100 where the whole is 0. */
  public static double percent(long part, long whole) {
    return whole == 0 ? 100 : 100.0 * part / whole;
  }
}
