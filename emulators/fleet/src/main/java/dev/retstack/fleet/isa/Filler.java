package dev.retstack.fleet.isa;

/**
 * Code that takes the place of a call, in the order of memory.
 *
 * @param hex bytes in hex, divided by blanks; {@code ..} for one that stays as it is in the call,
 *     such as a delay slot
 */
record Filler(String hex) {
  private static final String STAYS = "..";

  static Filler of(String hex) {
    return new Filler(hex.contains(" ") ? hex : hex.replaceAll("..(?=.)", "$0 "));
  }

  private String[] each() {
    return hex.split(" ", -1);
  }

  int size() {
    return each().length;
  }

  /** These bytes in place of others, again and again up to their end. */
  byte[] over(byte[] call) {
    String[] each = each();
    byte[] filled = call.clone();
    for (int i = 0; i < filled.length; i++) {
      String wanted = each[i % each.length];
      if (!wanted.equals(STAYS)) {
        filled[i] = (byte) Integer.parseInt(wanted, 16);
      }
    }
    return filled;
  }
}
