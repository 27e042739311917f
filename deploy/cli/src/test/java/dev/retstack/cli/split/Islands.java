package dev.retstack.cli.split;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Network namespaces on one bridge: machines as far as their network goes. Each can be cut off from
 * the others and connected again.
 */
final class Islands implements AutoCloseable {
  private final String name;
  private final String net;
  private final List<String> namespaces = new ArrayList<>();

  private Islands(String name, String net) {
    this.name = name;
    this.net = net;
  }

  /** Why there can be none here; empty where there can. */
  static String refusal() throws InterruptedException {
    String name = "rs" + ProcessHandle.current().pid() % 10_000 + "t";
    try {
      run("ip", "netns", "add", name);
      run("ip", "netns", "del", name);
      return "";
    } catch (IOException e) {
      return "no network namespaces here: " + e.getMessage();
    }
  }

  /**
   * Makes some.
   *
   * @param count at most 200
   */
  static Islands make(int count) throws IOException, InterruptedException {
    long pid = ProcessHandle.current().pid();
    Islands islands =
        new Islands("rs" + pid % 10_000, "10.%d.%d.".formatted(64 + pid / 250 % 60, pid % 250));
    String bridge = islands.name + "b";
    try {
      run("ip", "link", "add", bridge, "type", "bridge");
      run("ip", "addr", "add", islands.net + "254/24", "dev", bridge);
      run("ip", "link", "set", bridge, "up");
      for (int i = 1; i <= count; i++) {
        String space = islands.namespace(i);
        run("ip", "netns", "add", space);
        islands.namespaces.add(space);
        String outside = islands.link(i);
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", space);
        run("ip", "link", "set", outside, "master", bridge, "up");
        run("ip", "-n", space, "addr", "add", islands.address(i) + "/24", "dev", "eth0");
        run("ip", "-n", space, "link", "set", "eth0", "up");
        run("ip", "-n", space, "link", "set", "lo", "up");
      }
      return islands;
    } catch (IOException | InterruptedException e) {
      islands.close();
      throw e;
    }
  }

  private String namespace(int number) {
    return name + "n" + number;
  }

  private String link(int number) {
    return name + "v" + number;
  }

  /** Where one is reached from the others, and from here. */
  String address(int number) {
    return net + number;
  }

  /** A command, to be run in one. */
  ProcessBuilder in(int number, ProcessBuilder command) {
    List<String> words = new ArrayList<>(List.of("ip", "netns", "exec", namespace(number)));
    words.addAll(command.command());
    return command.command(words);
  }

  /** No packet comes in or goes out any more. */
  void cut(int number) throws IOException, InterruptedException {
    run("ip", "link", "set", link(number), "down");
  }

  /** All is as it was. */
  void heal(int number) throws IOException, InterruptedException {
    run("ip", "link", "set", link(number), "up");
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + ": " + said.strip());
    }
  }

  @Override
  public void close() throws IOException {
    try {
      for (String space : namespaces) {
        run("ip", "netns", "del", space); // its links go with it
      }
      run("ip", "link", "del", name + "b");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
