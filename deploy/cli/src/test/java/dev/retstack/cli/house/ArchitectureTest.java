package dev.retstack.cli.house;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

/** The rules of the house: who may know whom. */
@AnalyzeClasses(packages = "dev.retstack", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String SCHEMA = "dev.retstack.schema..";
  private static final String UNICORN = "dev.retstack.unicorn..";
  private static final String MACHINE = "dev.retstack.machine..";
  private static final String FLEET = "dev.retstack.fleet..";
  private static final String GRAPH = "dev.retstack.graph..";
  private static final String ANSWERS = "dev.retstack.answers..";
  private static final String SERVICE = "dev.retstack.service..";
  private static final String CLI = "dev.retstack.cli..";

  /** Everything that decides is a pure state machine: no broker, no actors, no wire format. */
  @ArchTest
  static final ArchRule graphIsPureJava =
      classes()
          .that()
          .resideInAPackage(GRAPH)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              GRAPH,
              "dev.retstack.schema.record",
              "dev.retstack.schema.codec",
              "dev.retstack.schema.linux",
              "java..",
              "it.unimi.dsi.fastutil..");

  /** The same input gives the same result on any host: nothing to read time or chance from. */
  @ArchTest
  static final ArchRule graphHasNoClockAndNoChance =
      noClasses()
          .that()
          .resideInAPackage(GRAPH)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "java.time..",
              "java.util.concurrent",
              "java.util.concurrent.locks",
              "java.net..",
              "java.nio.file..")
          .orShould()
          .dependOnClassesThat()
          .haveNameMatching("java\\.util\\.(Random|SplittableRandom|UUID|Date|Timer)")
          .orShould()
          .dependOnClassesThat()
          .haveNameMatching("java\\.util\\.random\\..*|java\\.security\\.SecureRandom")
          .orShould()
          .dependOnClassesThat()
          .belongToAnyOf(Thread.class)
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Math.class, "random");

  /** One class meets native code; everybody else speaks Java with it. */
  @ArchTest
  static final ArchRule onlyUnicornMeetsTheLinker =
      noClasses()
          .that()
          .resideOutsideOfPackage(UNICORN)
          .should()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.lang.foreign.Linker");

  @ArchTest
  static final ArchRule unicornKnowsNothingOfTracing =
      noClasses()
          .that()
          .resideInAPackage(UNICORN)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(SCHEMA, MACHINE, FLEET, GRAPH, ANSWERS, SERVICE, CLI);

  /** What runs a program does not know who traces it. */
  @ArchTest
  static final ArchRule machineKnowsNothingOfTheFleet =
      noClasses()
          .that()
          .resideInAPackage(MACHINE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              FLEET, GRAPH, ANSWERS, SERVICE, CLI, "org.apache.kafka..", "org.slf4j..");

  @ArchTest
  static final ArchRule schemasAreTheContractAndNothingElse =
      noClasses()
          .that()
          .resideInAPackage(SCHEMA)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              UNICORN,
              MACHINE,
              FLEET,
              GRAPH,
              ANSWERS,
              SERVICE,
              CLI,
              "org.apache.kafka..",
              "org.apache.pekko..");

  /** A trace is read, shown and exported where there is no Kafka, and no job. */
  @ArchTest
  static final ArchRule answersNeedNoKafka =
      noClasses()
          .that()
          .resideInAPackage(ANSWERS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(SERVICE, CLI, "org.apache.kafka..", "org.apache.pekko.kafka..");

  /** Pekko HTTP is the web server: what is answered does not depend on it. */
  @ArchTest
  static final ArchRule onlyTheWebServerOfAnswersMeetsPekko =
      noClasses()
          .that()
          .resideInAPackage(ANSWERS)
          .and()
          .resideOutsideOfPackages(
              "dev.retstack.answers.http",
              "dev.retstack.answers.question",
              "dev.retstack.answers.viewer",
              "dev.retstack.answers.web")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.apache.pekko..");

  /** The two sides of Kafka meet only in the schemas. */
  @ArchTest
  static final ArchRule leftOfKafkaKnowsNothingOfTheRight =
      noClasses()
          .that()
          .resideInAPackage(FLEET)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(GRAPH, ANSWERS, SERVICE, CLI, "org.apache.pekko..");

  @ArchTest
  static final ArchRule rightOfKafkaKnowsNothingOfTheLeft =
      noClasses()
          .that()
          .resideInAnyPackage(GRAPH, ANSWERS, SERVICE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(UNICORN, MACHINE, FLEET, CLI);

  /** An ISA is data of one file: it is reached through the capability table only. */
  @ArchTest
  static final ArchRule isasAreReachedThroughTheTable =
      fields()
          .that()
          .haveRawType("dev.retstack.machine.isa.Isa")
          .and()
          .areStatic()
          .should()
          .bePackagePrivate()
          .andShould()
          .beDeclaredInClassesThat()
          .resideInAPackage("dev.retstack.machine.isa");

  /** What tests and measures is on no user's class path. */
  @ArchTest
  static final ArchRule theCommandHasNeitherSimulationNorBenchmarks =
      noClasses()
          .should()
          .resideInAnyPackage("dev.retstack.simulation..", "dev.retstack.benchmarks..");

  /** Data go to standard output through the Terminal; a stray print would corrupt them. */
  @ArchTest
  static final ArchRule nobodyPrintsToStandardOutput =
      noClasses().should().accessField(System.class, "out");

  /** Every package of every module is a slice of its own. */
  @ArchTest
  static final ArchRule noCyclesBetweenPackages =
      slices()
          .assignedFrom(
              new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                  return SliceIdentifier.of(type.getPackageName());
                }

                @Override
                public String getDescription() {
                  return "packages";
                }
              })
          .should()
          .beFreeOfCycles();
}
