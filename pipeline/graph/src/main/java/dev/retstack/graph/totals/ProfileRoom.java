package dev.retstack.graph.totals;

/** Room for functions and edges, which several profiles may share. */
public final class ProfileRoom {
  private int functions;
  private int edges;

  public ProfileRoom(int functions, int edges) {
    this.functions = functions;
    this.edges = edges;
  }

  /** As much room as is left here. */
  ProfileRoom copy() {
    return new ProfileRoom(functions, edges);
  }

  /** Takes the room of a function; false where there is none left. */
  boolean takeFunction() {
    return functions > 0 && functions-- > 0;
  }

  /** Takes the room of an edge; false where there is none left. */
  boolean takeEdge() {
    return edges > 0 && edges-- > 0;
  }
}
