package dev.retstack.unicorn;

/** A hook that was added to an engine; the key to {@link Unicorn#hook_del}. */
public final class Hook {
  /** The library's handle. */
  final long handle;

  /** What is to be kept reachable, or released, with this hook. */
  final Object resource;

  Hook(long handle, Object resource) {
    this.handle = handle;
    this.resource = resource;
  }
}
