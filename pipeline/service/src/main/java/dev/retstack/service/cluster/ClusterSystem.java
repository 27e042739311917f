package dev.retstack.service.cluster;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.retstack.service.nodes.Role;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.remote.artery.tcp.SSLEngineProviderSetup;

/** What the actor system of a member is made of. */
public final class ClusterSystem {
  private ClusterSystem() {}

  /**
   * Settings of an actor system.
   *
   * @param cluster how others can join it; empty for one that nobody can join, which opens no port
   */
  public static ActorSystemSetup setup(Optional<ClusterSettings> cluster, Set<Role> roles) {
    ClassLoader loader = ClusterSystem.class.getClassLoader();
    Config own = ConfigFactory.parseResourcesAnySyntax(loader, "retstack-service");
    if (cluster.isEmpty()) {
      return ActorSystemSetup.create(BootstrapSetup.create(ConfigFactory.load(loader, own)));
    }
    Config joined =
        ConfigFactory.parseMap(values(cluster.get(), roles), "cluster settings")
            .withFallback(ConfigFactory.parseResourcesAnySyntax(loader, "retstack-cluster"))
            .withFallback(own);
    ActorSystemSetup setup =
        ActorSystemSetup.create(BootstrapSetup.create(ConfigFactory.load(loader, joined)));
    return cluster
        .get()
        .tls()
        .map(tls -> setup.withSetup(SSLEngineProviderSetup.create(_ -> tls)))
        .orElse(setup);
  }

  private static Map<String, Object> values(ClusterSettings cluster, Set<Role> roles) {
    Map<String, Object> values = new HashMap<>();
    values.put("pekko.remote.artery.transport", cluster.tls().isPresent() ? "tls-tcp" : "tcp");
    values.put("pekko.remote.artery.canonical.hostname", cluster.reachedAs());
    values.put("pekko.remote.artery.canonical.port", cluster.port());
    values.put("pekko.remote.artery.bind.hostname", cluster.host());
    values.put("pekko.cluster.roles", roles.stream().map(Role::word).sorted().toList());
    return values;
  }
}
