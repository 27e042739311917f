package dev.retstack.service.support;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Bytes on a socket, whatever they say, and what comes back. */
public final class RawHttp implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 30_000;
  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] (\\d{3}) ");
  private static final Pattern LENGTH = Pattern.compile("(?i)\r\nContent-Length: (\\d+)\r\n");

  /**
   * What came back.
   *
   * @param status 0 where the connection was closed without a word
   */
  public record Said(int status, String head, String body) {}

  private final Socket socket;
  private String what = "";

  /** A new connection. */
  public RawHttp(URI to) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), to.getPort());
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
  }

  /** What it is about, for a message. */
  public RawHttp as(String description) {
    what = description;
    return this;
  }

  /** Sends; a peer that has closed already is no failure. */
  public RawHttp send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException _) {
      // it had enough: what it said, if anything, is still to be read
    }
    return this;
  }

  /** Sends each character as a byte. */
  public RawHttp send(String text) {
    return send(text.getBytes(ISO_8859_1));
  }

  /** Says that no more will come. */
  public RawHttp end() {
    try {
      socket.shutdownOutput();
    } catch (IOException _) {
      // closed by the other side
    }
    return this;
  }

  /** One response; status 0 at the end of the connection. */
  public Said next() {
    try {
      InputStream in = socket.getInputStream();
      ByteArrayOutputStream head = new ByteArrayOutputStream();
      while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
        int one = in.read();
        if (one < 0) {
          return new Said(0, head.toString(ISO_8859_1), "");
        }
        head.write(one);
      }
      String text = head.toString(ISO_8859_1);
      Matcher status = STATUS.matcher(text);
      if (!status.lookingAt()) {
        throw new AssertionError("no response: " + text);
      }
      Matcher length = LENGTH.matcher(text);
      if (text.toLowerCase(Locale.ROOT).contains("transfer-encoding: chunked")) {
        return new Said(Integer.parseInt(status.group(1)), text, chunks(in));
      }
      int bytes = length.find() ? Integer.parseInt(length.group(1)) : 0;
      return new Said(
          Integer.parseInt(status.group(1)), text, new String(in.readNBytes(bytes), ISO_8859_1));
    } catch (IOException e) {
      // a reset is a close as well; a time-out is not
      if (e instanceof SocketTimeoutException) {
        throw new AssertionError("neither an answer nor a close: " + what, e);
      }
      return new Said(0, "", "");
    }
  }

  private static String chunks(InputStream in) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    int bytes;
    do {
      String line = line(in);
      bytes = line.isEmpty() ? 0 : Integer.parseInt(line, 16);
      body.writeBytes(in.readNBytes(bytes));
      line(in);
    } while (bytes > 0);
    return body.toString(ISO_8859_1);
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int one = in.read(); one >= 0 && one != '\n'; one = in.read()) {
      line.write(one);
    }
    return line.toString(ISO_8859_1).strip();
  }

  /** All responses until the other side closes. */
  public List<Said> all() {
    List<Said> all = new ArrayList<>();
    for (Said said = next(); said.status() != 0; said = next()) {
      all.add(said);
    }
    return all;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
