package dev.retstack.cli.split;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * Carries connections from one address to another. A network namespace sees files, and no ports, of
 * the others: through a socket that is a file a broker on loopback is reached from all of them,
 * each on its own loopback.
 */
final class Relay implements AutoCloseable {
  private final ServerSocketChannel server;
  private final SocketAddress to;

  private Relay(ServerSocketChannel server, SocketAddress to) {
    this.server = server;
    this.to = to;
    Thread.ofVirtual().start(this::accept);
  }

  /** From a file to a port of this loopback. */
  static Relay fromFile(Path file, int port) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(file));
    return new Relay(server, loopback(port));
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** {@code PORT FILE}: from a port of the loopback where it runs to a file, until killed. */
  public static void main(String[] arguments) throws Exception {
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(loopback(Integer.parseInt(arguments[0])));
    Relay relay = new Relay(server, UnixDomainSocketAddress.of(arguments[1]));
    System.out.println("relays");
    Thread.currentThread().join();
    relay.close();
  }

  private void accept() {
    while (server.isOpen()) {
      try {
        SocketChannel near = server.accept();
        SocketChannel far = SocketChannel.open(to);
        Thread.ofVirtual().start(() -> carry(near, far));
        Thread.ofVirtual().start(() -> carry(far, near));
      } catch (IOException _) {
        // closed, or whoever called was gone again
      }
    }
  }

  private static void carry(ByteChannel from, ByteChannel to) {
    ByteBuffer bytes = ByteBuffer.allocate(64 << 10);
    try (from;
        to) {
      while (from.read(bytes) >= 0) {
        bytes.flip();
        while (bytes.hasRemaining()) {
          to.write(bytes);
        }
        bytes.clear();
      }
    } catch (IOException _) {
      // one end is gone: so is the other
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
