package dev.retstack.graph.symbol;

import dev.retstack.schema.record.FunctionName;
import java.util.List;

/** Names of functions by addresses, which are unsigned. */
public interface FunctionNames {
  /** The function in which an address lies; the address in hex where none is known there. */
  String name(long pc);

  /** All other names of the function. */
  List<String> otherNames(long pc);

  /** All names of that function. */
  default FunctionName function(long pc) {
    return new FunctionName(name(pc), otherNames(pc));
  }

  /** The name, with how far the address lies behind the first byte of the function. */
  String symbolPlusOffset(long pc);

  /** First byte of the function in which an address lies; the address where none is known. */
  long start(long pc);

  /** Where the function begins in its source; {@link SourceLine#NONE} where that is not known. */
  SourceLine source(long pc);

  /** An address in hex, with the image where that is not the core's own. */
  default String address(long pc) {
    return SymbolTable.hex(pc);
  }

  /** Whether a function is known in which an address lies. */
  boolean covers(long pc);
}
