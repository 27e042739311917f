package dev.retstack.answers.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.wire.Visible;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.ResponseEntity;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * The text of an answer, written while it is sent: it may be larger than the memory. A short one is
 * sent whole, so what goes wrong in it is still an answer. A long one that fails is cut off, which
 * a client sees.
 */
public final class StreamedText {
  /** Something that writes a text. */
  public interface Text {
    void writeTo(Writer out) throws IOException;
  }

  /** Bytes that are gathered before anything is sent. */
  private static final int WHOLE_MAX = 1 << 18;

  private static final int PIECE = 1 << 16;

  /** Pieces that were written and not sent yet. */
  private static final int AHEAD = 4;

  /** A client that takes nothing for so long gets no more. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** A client that takes longer for all of it gets no more: others wait for its place. */
  private static final Duration ALL = Duration.ofMinutes(10);

  private StreamedText() {}

  /**
   * What is sent: known when the text is whole, or too long to wait for that. Nothing of it is read
   * where the text cannot be written.
   *
   * @param done runs when the text is written, or given up
   */
  public static CompletionStage<ResponseEntity> entity(
      ContentType.NonBinary type, Text text, Runnable done) {
    Pipe pipe = new Pipe(type);
    Thread.ofPlatform()
        .daemon()
        .name("retstack-answer")
        .start(
            () -> {
              try (Shown out = new Shown(new OutputStreamWriter(pipe, UTF_8))) {
                text.writeTo(out);
                out.flush();
                pipe.end();
              } catch (IOException | RuntimeException e) {
                pipe.fail(e);
              } finally {
                done.run();
              }
            });
    return pipe.entity;
  }

  /** Makes visible what a terminal would obey, wherever the text is cut into pieces. */
  private static final class Shown extends Writer {
    private final Writer out;
    private final StringBuilder text = new StringBuilder();

    Shown(Writer out) {
      this.out = out;
    }

    @Override
    public void write(char[] chars, int from, int length) throws IOException {
      text.append(chars, from, length);
      if (text.length() >= PIECE) {
        char last = text.charAt(text.length() - 1);
        boolean isHalf = last == '\r' || Character.isHighSurrogate(last);
        pass(isHalf ? text.length() - 1 : text.length());
      }
    }

    private void pass(int length) throws IOException {
      out.write(Visible.lines(text.substring(0, length)));
      text.delete(0, length);
    }

    @Override
    public void flush() throws IOException {
      pass(text.length());
      out.flush();
    }

    /** The last word is {@link Pipe#end}: what was not flushed belongs to a text that failed. */
    @Override
    public void close() {}
  }

  /** From the thread that writes to those that send. */
  private static final class Pipe extends OutputStream {
    private record Piece(ByteString bytes, boolean isLast, Throwable failure) {}

    private static final Piece END = new Piece(ByteString.emptyByteString(), true, null);

    private final CompletableFuture<ResponseEntity> entity = new CompletableFuture<>();
    private final BlockingQueue<Piece> pieces = new ArrayBlockingQueue<>(AHEAD);
    private final long began = System.nanoTime();
    private final ContentType.NonBinary type;
    private ByteArrayOutputStream gathered = new ByteArrayOutputStream(PIECE);
    private volatile boolean closed;

    Pipe(ContentType.NonBinary type) {
      this.type = type;
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      gathered.write(bytes, from, length);
      if (gathered.size() >= (entity.isDone() ? PIECE : WHOLE_MAX)) {
        if (!entity.isDone()) {
          entity.complete(
              HttpEntities.createChunked(
                  type, Source.unfoldResource(() -> this, Pipe::next, pipe -> pipe.closed = true)));
        }
        put(new Piece(ByteString.fromArrayUnsafe(gathered.toByteArray()), false, null));
        gathered = new ByteArrayOutputStream(PIECE);
      }
    }

    void end() throws IOException {
      ByteString rest = ByteString.fromArrayUnsafe(gathered.toByteArray());
      if (!entity.complete(HttpEntities.create(type, rest))) {
        put(new Piece(rest, false, null));
        put(END);
      }
    }

    /** A text that is being sent breaks off. */
    void fail(Exception failure) {
      if (!entity.completeExceptionally(failure)) {
        closed = closed || !pieces.offer(new Piece(ByteString.emptyByteString(), false, failure));
      }
    }

    private void put(Piece piece) throws IOException {
      long until = System.nanoTime() + PATIENCE.toNanos();
      try {
        while (!pieces.offer(piece, 1, TimeUnit.SECONDS)) {
          long now = System.nanoTime();
          if (closed || now > until || now - began > ALL.toNanos()) {
            closed = true;
            throw new IOException("the client does not take the answer");
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("this member ends", e);
      }
    }

    /** The next piece to be sent; empty behind the last. */
    private Optional<ByteString> next() throws IOException, InterruptedException {
      while (true) {
        Piece piece = pieces.poll(1, TimeUnit.SECONDS);
        if (piece != null && piece.isLast()) {
          return Optional.empty();
        }
        if (piece != null && piece.failure() == null) {
          return Optional.of(piece.bytes());
        }
        if (piece != null || closed) {
          throw new IOException("the answer is cut off", piece == null ? null : piece.failure());
        }
      }
    }
  }
}
