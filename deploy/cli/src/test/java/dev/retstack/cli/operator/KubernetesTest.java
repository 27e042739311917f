package dev.retstack.cli.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.command.ExitCode;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The manifests are what Kubernetes knows, field by field, and fit together and to the command. */
class KubernetesTest {
  private static final Map<String, Class<? extends HasMetadata>> KINDS =
      Map.of(
          "apps/v1 Deployment", Deployment.class,
          "batch/v1 Job", Job.class,
          "v1 Service", Service.class,
          "v1 ServiceAccount", ServiceAccount.class,
          "policy/v1 PodDisruptionBudget", PodDisruptionBudget.class,
          "autoscaling/v2 HorizontalPodAutoscaler", HorizontalPodAutoscaler.class,
          "rbac.authorization.k8s.io/v1 Role", Role.class,
          "networking.k8s.io/v1 NetworkPolicy", NetworkPolicy.class);

  private static final List<String> FILES =
      List.of("pipeline.yaml", "autoscaling.yaml", "rbac.yaml", "fleet.yaml");

  private static final ObjectMapper MODEL = new ObjectMapper();

  private final List<HasMetadata> all = new ArrayList<>();

  @BeforeEach
  void read() throws Exception {
    for (String file : FILES) {
      Path path = OperatorFiles.deploy("kubernetes").resolve(file);
      for (JsonNode document : OperatorFiles.documents(path)) {
        String kind = document.path("apiVersion").asText() + " " + document.path("kind").asText();
        assertThat(KINDS).as(file).containsKey(kind);
        HasMetadata model = MODEL.convertValue(document, KINDS.get(kind));
        // a misspelt field ends in the models' additional properties, or is not written back
        JsonNode back = MODEL.valueToTree(model);
        same(file + " " + kind, document, back);
        all.add(model);
      }
    }
  }

  /** Everything written is understood: it comes back as it was. */
  private static void same(String where, JsonNode written, JsonNode back) {
    if (written.isObject()) {
      written
          .fieldNames()
          .forEachRemaining(
              name -> {
                assertThat(back.has(name)).as(where + "." + name + " is no field").isTrue();
                same(where + "." + name, written.get(name), back.get(name));
              });
    } else if (written.isArray()) {
      assertThat(back).as(where).hasSameSizeAs(written);
      for (int i = 0; i < written.size(); i++) {
        same(where + "[" + i + "]", written.get(i), back.get(i));
      }
    } else {
      assertThat(back.asText()).as(where).isEqualTo(written.asText());
    }
  }

  @Test
  void noFieldIsMisspelt() {
    assertThat(all).hasSizeGreaterThan(7);
    all.forEach(Additional::none);
  }

  @Test
  void theCommandTakesItsArguments() {
    for (Container container : containers()) {
      assertThat(OperatorFiles.refusal(container.getArgs())).as(container.getName()).isEmpty();
    }
  }

  @Test
  void whatAPodMountsIsThereAndNothingRunsAsRoot() {
    for (PodSpec pod : pods()) {
      TreeSet<String> volumes = new TreeSet<>();
      pod.getVolumes().stream().map(Volume::getName).forEach(volumes::add);
      assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
      assertThat(pod.getAutomountServiceAccountToken()).isFalse();
      for (Container container : pod.getContainers()) {
        TreeSet<String> mounted = new TreeSet<>();
        container.getVolumeMounts().forEach(mount -> mounted.add(mount.getName()));
        assertThat(mounted).isEqualTo(volumes);
        for (String argument : container.getArgs()) {
          if (argument.startsWith("/")) {
            assertThat(container.getVolumeMounts())
                .as(argument)
                .anyMatch(mount -> argument.startsWith(mount.getMountPath() + "/"));
          }
        }
        assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
        assertThat(container.getResources().getLimits()).containsKey("memory");
        // secrets come as files
        container
            .getEnv()
            .forEach(env -> assertThat(env.getValueFrom().getSecretKeyRef()).isNull());
      }
      assertThat(accounts()).contains(pod.getServiceAccountName());
    }
  }

  @Test
  void selectorsFindTheMembersAndPortsAgree() {
    Deployment pipeline = only(Deployment.class, "retstack-pipeline");
    Map<String, String> labels = pipeline.getSpec().getTemplate().getMetadata().getLabels();
    assertThat(pipeline.getSpec().getSelector().getMatchLabels()).isEqualTo(labels);
    Service service = only(Service.class, "retstack-pipeline");
    Service members = only(Service.class, "retstack-pipeline-members");
    assertThat(service.getSpec().getSelector()).isEqualTo(labels);
    assertThat(members.getSpec().getSelector()).isEqualTo(labels);
    assertThat(members.getSpec().getPorts()).isEqualTo(service.getSpec().getPorts());
    PodDisruptionBudget budget = only(PodDisruptionBudget.class, "retstack-pipeline");
    assertThat(budget.getSpec().getSelector().getMatchLabels()).isEqualTo(labels);
    NetworkPolicy policy = only(NetworkPolicy.class, "retstack-pipeline");
    assertThat(policy.getSpec().getPodSelector().getMatchLabels()).isEqualTo(labels);
    HorizontalPodAutoscaler scaler = only(HorizontalPodAutoscaler.class, "retstack-pipeline");
    assertThat(scaler.getSpec().getScaleTargetRef().getName())
        .isEqualTo(pipeline.getMetadata().getName());
    Container container = pipeline.getSpec().getTemplate().getSpec().getContainers().getFirst();
    int port = container.getPorts().getFirst().getContainerPort();
    List<String> arguments = container.getArgs();
    assertThat(arguments.get(arguments.indexOf("--http-port") + 1)).isEqualTo("" + port);
    assertThat(service.getSpec().getPorts().getFirst().getPort()).isEqualTo(port);
    assertThat(policy.getSpec().getIngress())
        .flatExtracting(rule -> rule.getPorts())
        .extracting(opened -> opened.getPort().getIntVal())
        .containsExactly(port);
    int partitions = Integer.parseInt(arguments.get(arguments.indexOf("--partitions") + 1));
    assertThat(scaler.getSpec().getMaxReplicas()).isLessThanOrEqualTo(partitions);
    for (var probe :
        List.of(
            container.getLivenessProbe(),
            container.getReadinessProbe(),
            container.getStartupProbe())) {
      assertThat(probe.getHttpGet().getPath()).isIn("/health/live", "/health/ready");
      assertThat(probe.getHttpGet().getScheme()).isEqualTo("HTTPS");
      assertThat(probe.getHttpGet().getPort().getStrVal())
          .isEqualTo(container.getPorts().getFirst().getName());
    }
    var metric = scaler.getSpec().getMetrics().getFirst().getExternal().getMetric().getName();
    assertThat(PromQl.metrics()).contains(metric);
  }

  /** A fleet ends: it is not started again, but where another run may do better. */
  @Test
  void aFleetThatEndedIsNotStartedAgain() {
    Job fleet = only(Job.class, "retstack-fleet");
    PodSpec pod = fleet.getSpec().getTemplate().getSpec();
    assertThat(pod.getRestartPolicy()).as("policies of failures want it").isEqualTo("Never");
    assertThat(fleet.getSpec().getParallelism()).isEqualTo(1);
    assertThat(fleet.getSpec().getCompletions()).isEqualTo(1);
    var rules = fleet.getSpec().getPodFailurePolicy().getRules();
    var fatal = rules.getFirst();
    assertThat(fatal.getAction()).isEqualTo("FailJob");
    assertThat(fatal.getOnExitCodes().getContainerName())
        .isEqualTo(pod.getContainers().getFirst().getName());
    assertThat(fatal.getOnExitCodes().getOperator()).isEqualTo("In");
    assertThat(fatal.getOnExitCodes().getValues())
        .as("exit codes, but that of a broker which is away")
        .containsExactly(
            ExitCode.USAGE,
            ExitCode.BAD_INPUT,
            ExitCode.FAULTED,
            ExitCode.NOTHING_RECORDED,
            ExitCode.WAITS);
    assertThat(rules.getLast().getAction()).isEqualTo("Ignore");
    assertThat(rules.getLast().getOnPodConditions().getFirst().getType())
        .isEqualTo("DisruptionTarget");
    assertThat(rules.getLast().getOnPodConditions().getFirst().getStatus()).isEqualTo("True");
  }

  /** What pods name is made by commands of the README. */
  @Test
  void commandsOfTheReadmeMakeWhatPodsMount() throws Exception {
    TreeSet<String> made = new TreeSet<>();
    Matcher command =
        Pattern.compile("kubectl create (?:secret generic|configmap) (\\S+) (.*)")
            .matcher(Files.readString(OperatorFiles.deploy("README.md")));
    while (command.find()) {
      Matcher key =
          Pattern.compile("--from-(?:file=\\S*/|literal=)([^= /]+)").matcher(command.group(2));
      while (key.find()) {
        made.add(command.group(1) + "/" + key.group(1));
      }
    }
    for (PodSpec pod : pods()) {
      for (Volume volume : pod.getVolumes()) {
        String source =
            volume.getSecret() != null
                ? volume.getSecret().getSecretName()
                : volume.getConfigMap() != null ? volume.getConfigMap().getName() : null;
        Container container = pod.getContainers().getFirst();
        String path =
            container.getVolumeMounts().stream()
                .filter(mount -> mount.getName().equals(volume.getName()))
                .findFirst()
                .orElseThrow()
                .getMountPath();
        if (source != null) {
          assertThat(container.getArgs())
              .filteredOn(argument -> argument.startsWith(path + "/"))
              .isNotEmpty()
              .allSatisfy(
                  argument ->
                      assertThat(made).contains(source + argument.substring(path.length())));
        }
      }
      pod.getContainers().stream()
          .flatMap(container -> container.getEnv().stream())
          .map(env -> env.getValueFrom().getConfigMapKeyRef())
          .filter(Objects::nonNull)
          .forEach(key -> assertThat(made).contains(key.getName() + "/" + key.getKey()));
    }
  }

  private List<PodSpec> pods() {
    return all.stream()
        .flatMap(model -> template(model).stream())
        .map(PodTemplateSpec::getSpec)
        .toList();
  }

  private static Optional<PodTemplateSpec> template(HasMetadata model) {
    return switch (model) {
      case Deployment deployment -> Optional.of(deployment.getSpec().getTemplate());
      case Job job -> Optional.of(job.getSpec().getTemplate());
      default -> Optional.empty();
    };
  }

  private List<Container> containers() {
    List<Container> found = pods().stream().flatMap(p -> p.getContainers().stream()).toList();
    assertThat(found).hasSize(2);
    return found;
  }

  private List<String> accounts() {
    return all.stream()
        .filter(ServiceAccount.class::isInstance)
        .map(model -> model.getMetadata().getName())
        .toList();
  }

  private <T extends HasMetadata> T only(Class<T> kind, String name) {
    List<T> found =
        all.stream()
            .filter(kind::isInstance)
            .map(kind::cast)
            .filter(model -> model.getMetadata().getName().equals(name))
            .toList();
    assertThat(found).as(kind.getSimpleName() + " " + name).hasSize(1);
    return found.getFirst();
  }
}
