package dev.retstack.schema.codec;

/** A function, by its selfpc, and the point where it has just been entered. */
final class PackedFunction extends PackedPoint {
  /** From 1; 0 stands for functions without a number. */
  final int number;

  long address;

  /** retp of a call minus retp of its caller. */
  long retPStep;

  PackedFunction(int number) {
    this.number = number;
  }

  void reset(long newAddress) {
    forget();
    address = newAddress;
    retPStep = 0;
  }
}
