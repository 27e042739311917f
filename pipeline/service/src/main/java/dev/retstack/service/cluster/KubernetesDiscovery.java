package dev.retstack.service.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.service.LiveAccess;
import dev.retstack.service.nodes.NodeTable;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Members as pods: those of this namespace that a label selector chooses, by the API server, as the
 * pod's service account. It needs the right to list pods.
 *
 * @param selector such as {@code app.kubernetes.io/component=pipeline}
 * @param server address of the API server
 * @param account folder with {@code token}, {@code ca.crt} and {@code namespace}
 */
record KubernetesDiscovery(String selector, URI server, Path account) implements Discovery {
  /** Name of the container's port where members are joined. */
  static final String PORT = "cluster";

  private static final Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** More than the pods of any job. */
  private static final int ANSWER_BYTES_MAX = 16 << 20;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The pods of this pod's own cluster. */
  static KubernetesDiscovery of(String selector) {
    String host = System.getenv("KUBERNETES_SERVICE_HOST");
    String port = System.getenv("KUBERNETES_SERVICE_PORT_HTTPS");
    if (selector.isBlank() || host == null) {
      throw new IllegalArgumentException(
          selector.isBlank()
              ? "no label selector: use kubernetes:LABEL=VALUE,..."
              : "this is no pod (KUBERNETES_SERVICE_HOST is not set): use --discover kafka");
    }
    String name = host.contains(":") ? "[" + host + "]" : host;
    URI server = URI.create("https://%s:%s".formatted(name, port == null ? "443" : port));
    return new KubernetesDiscovery(selector, server, ACCOUNT);
  }

  @Override
  public List<String> addresses(List<NodeTable.Announced> members) throws IOException {
    String namespace = Files.readString(account.resolve("namespace")).strip();
    String path =
        "/api/v1/namespaces/%s/pods?labelSelector=%s"
            .formatted(namespace, URLEncoder.encode(selector, StandardCharsets.UTF_8));
    // tokens are replaced every hour, authorities from time to time
    String token = Files.readString(account.resolve("token")).strip();
    try (HttpClient http =
        HttpClient.newBuilder()
            .connectTimeout(PATIENCE)
            .sslContext(LiveAccess.trusting(account.resolve("ca.crt")))
            .build()) {
      HttpRequest request =
          HttpRequest.newBuilder(server.resolve(path))
              .timeout(PATIENCE)
              .header("Authorization", "Bearer " + token)
              .header("Accept", "application/json")
              .build();
      HttpResponse<InputStream> response =
          http.send(request, HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream body = response.body()) {
        byte[] answer = body.readNBytes(ANSWER_BYTES_MAX);
        if (response.statusCode() != 200) {
          throw new IOException(
              "the API server answers %d to %s: the service account must be allowed to list pods"
                  .formatted(response.statusCode(), path));
        }
        return pods(JSON.readTree(answer));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** Addresses of the pods that run and are not about to end. */
  private static List<String> pods(JsonNode list) {
    List<String> found = new ArrayList<>();
    for (JsonNode pod : list.path("items")) {
      String address = pod.path("status").path("podIP").asText();
      boolean isEnding = pod.path("metadata").has("deletionTimestamp");
      if (address.isEmpty() || isEnding || !isRunning(pod)) {
        continue;
      }
      for (JsonNode container : pod.path("spec").path("containers")) {
        for (JsonNode port : container.path("ports")) {
          if (port.path("name").asText().equals(PORT)) {
            found.add(address + ":" + port.path("containerPort").asInt());
          }
        }
      }
    }
    return found;
  }

  private static boolean isRunning(JsonNode pod) {
    return pod.path("status").path("phase").asText().equals("Running");
  }
}
