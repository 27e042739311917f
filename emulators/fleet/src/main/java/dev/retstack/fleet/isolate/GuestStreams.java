package dev.retstack.fleet.isolate;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.LinkedBlockingQueue;

/** Standard input and output of one program, in the child: every read and write is a frame. */
final class GuestStreams {
  private static final int OUTPUT_BYTES_MAX = 64 << 10;
  private static final int INPUT_BYTES_MAX = 64 << 10;

  private final FrameWriter parent;
  private final int core;
  private final LinkedBlockingQueue<byte[]> input = new LinkedBlockingQueue<>();

  GuestStreams(FrameWriter parent, int core) {
    this.parent = parent;
    this.core = core;
  }

  /** Takes what the parent sent: an answer to one request. */
  void arrived(byte[] bytes) {
    input.add(bytes);
  }

  InputStream input() {
    return new Input();
  }

  OutputStream output(int descriptor) {
    return new Output(descriptor);
  }

  private final class Input extends InputStream {
    private byte[] rest = new byte[0];
    private int at;
    private boolean ended;

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
      if (at == rest.length && length > 0 && !ended) {
        ask(Math.min(length, INPUT_BYTES_MAX));
      }
      if (ended) {
        return -1;
      }
      int taken = Math.min(length, rest.length - at);
      System.arraycopy(rest, at, into, from, taken);
      at += taken;
      return taken;
    }

    private void ask(int most) throws IOException {
      byte[] wanted = ByteBuffer.allocate(4).putInt(most).array();
      parent.write(Frame.ofCore(Frame.Kind.INPUT_WANTED, core, wanted));
      try {
        rest = input.take();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("the core was stopped while it waited for input");
      }
      at = 0;
      ended = rest.length == 0;
    }
  }

  private final class Output extends OutputStream {
    private final int descriptor;

    Output(int descriptor) {
      this.descriptor = descriptor;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      for (int done = 0; done < length; ) {
        int part = Math.min(length - done, OUTPUT_BYTES_MAX);
        byte[] content = new byte[1 + part];
        content[0] = (byte) descriptor;
        System.arraycopy(bytes, from + done, content, 1, part);
        parent.write(Frame.ofCore(Frame.Kind.OUTPUT, core, content));
        done += part;
      }
    }
  }
}
