package dev.retstack.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.trace.TracedFleet;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineService;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/** The page Control in a real browser, of a fleet that runs and follows what the page says. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(240)
@Order(1)
class ControlPageTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PREFIX = "control-page";
  private static final String RISCV = "zoo-riscv64-mcount";
  private static final String EVIL =
      "<img src=x onerror=\"window.evil=1\">\u001b[2J\u202e\u2066\u200b\u05d0 ${evil}";

  private CommandedFleet fleet;
  private Browser browser;

  @BeforeAll
  void aFleetAndABrowser(@TempDir Path dir) throws Exception {
    assumeTrue(
        Browser.isThere(),
        "no chromium and chromedriver in the path: apt-get install chromium chromium-driver");
    fleet = new CommandedFleet(dir, PREFIX);
    browser = Browser.open(fleet.pipeline().httpUri());
  }

  @BeforeEach
  void theMember() {
    browser.turnTo(fleet.pipeline().httpUri());
  }

  @AfterAll
  void stop() {
    if (browser != null) {
      browser.close();
    }
    if (fleet != null) {
      fleet.close();
    }
  }

  private void type(String css, String text) {
    WebElement field = browser.element(css);
    field.click();
    field.sendKeys(Keys.chord(Keys.CONTROL, "a"), Keys.DELETE, text);
  }

  private void choose(String patterns, String target) {
    type("textarea", patterns);
    type(".bar input:not(#issuer)", target);
  }

  private boolean isReady(String button) {
    return "false".equals(browser.element(button).getDomAttribute("aria-disabled"));
  }

  private void reaches(int cores) {
    browser.until(
        "it reaches " + cores,
        () -> browser.text("#meant").startsWith("It reaches %d of 3 running".formatted(cores)));
  }

  private JsonNode log() throws Exception {
    Ran log = fleet.trace("log", "--format", "json");
    assertThat(log.code()).as(log.err()).isEqualTo(ExitCode.OK);
    return JSON.readTree(log.out());
  }

  @Test
  void aFilterIsChangedAndEachCoreAnswers() throws Exception {
    browser.go("/?page=control");
    assertThat(browser.rows("What cores trace", 1))
        .containsExactlyElementsOf(TracedFleet.IMAGES.stream().sorted().map(List::of).toList());
    choose("w200_00?\nrun_w200", "isa=riscv64");
    type("#issuer", "Grace");
    browser.until(
        "the name is kept",
        () -> "Grace".equals(browser.script("return localStorage.getItem('retstack-issuer')")));
    reaches(1);
    browser.until("there is a preview", () -> browser.rows("Preview", 1).size() == 3);
    assertThat(browser.rows("Preview", 4))
        .containsExactlyInAnyOrder(
            List.of("w200_00?", "10", "356", RISCV + ".elf"),
            List.of("run_w200", "1", "356", RISCV + ".elf"),
            List.of("all of them together", "11", "356", RISCV + ".elf"));
    int before = log().size();
    browser.until("it can be given", () -> isReady("button.main"));
    browser.click("Give the command");
    browser.until("it answered", () -> browser.text("#heard").contains("1 of 1 core answered."));
    List<String> answer = browser.rows("Answers", 8).getFirst();
    assertThat(browser.rows("Answers", 1)).hasSize(1);
    assertThat(answer.get(0)).isEqualTo(RISCV);
    assertThat(answer.get(1)).isEqualTo("applied");
    assertThat(answer.get(4)).as("call sites that are on").isEqualTo("11");
    assertThat(answer.get(7)).isEqualTo("set-filter w200_00? run_w200");

    JsonNode log = log();
    assertThat(log).hasSize(before + 1);
    browser.until(
        "it is in the log",
        () ->
            browser.rows("Audit log", 3).getFirst().get(2).equals("set-filter w200_00? run_w200"));
    List<String> row = browser.rows("Audit log", 6).getFirst();
    assertThat(row.get(0)).isEqualTo(log.get(before).path("issued").asText());
    assertThat(row.subList(1, 6))
        .containsExactly("Grace (http)", "set-filter w200_00? run_w200", "isa=riscv64", "1", "0");
    assertThat(browser.rows("What cores trace", 4))
        .anySatisfy(
            core ->
                assertThat(core)
                    .startsWith(RISCV)
                    .last()
                    .isEqualTo("set-filter w200_00? run_w200"));
    JsonNode status = JSON.readTree(fleet.trace("status", "--format", "json").out());
    assertThat(status)
        .as("the core says the same to the command")
        .anyMatch(
            core ->
                core.path("core").asText().equals(RISCV)
                    && core.path("settings").toString().contains("set-filter w200_00? run_w200"));
    browser.screenshot("control");
    browser.assertAccessible("control");
    browser.prefersDark(true);
    browser.screenshot("control-dark");
    browser.assertAccessible("control, dark");
    browser.prefersDark(false);
    browser.size(390, 800);
    browser.screenshot("control-narrow");
    assertThat(browser.number("return document.documentElement.scrollWidth"))
        .as("nothing sticks out")
        .isLessThanOrEqualTo(390);
    browser.size(1280, 800);
    browser.assertClean("control");
    theCommandLineDoesTheSame();
  }

  /** The line of the button Command, given in a terminal. */
  private void theCommandLineDoesTheSame() throws Exception {
    browser.click("Command");
    String line = browser.text("#line");
    assertThat(line)
        .isEqualTo(
            "retstack trace set-filter 'w200_00?' run_w200 --target isa=riscv64 --bootstrap %s --prefix %s"
                .formatted(fleet.bootstrap(), PREFIX));
    browser.press(Keys.ESCAPE);
    List<String> words = new ArrayList<>(List.of(line.replace("'", "").split(" ", -1)));
    Ran ran = Ran.well(words.subList(1, words.size()).toArray(String[]::new));
    assertThat(ran.out()).contains(RISCV).contains("applied").contains("11/356");
  }

  @Test
  void keysAloneCommandAllCores() throws Exception {
    browser.go("/?page=control&order=set-trigger&args=w200_01%3F%3Astacktrace%3A1&target=all");
    reaches(3);
    assertThat(browser.rows("Preview", 2)).hasSize(3).allMatch(row -> row.get(1).equals("10"));
    int before = log().size();
    browser.until("it can be given", () -> isReady("button.main"));
    browser.element("textarea").sendKeys(Keys.chord(Keys.CONTROL, Keys.ENTER));
    browser.until("all answered", () -> browser.text("#heard").contains("3 of 3 cores answered."));
    assertThat(browser.rows("Answers", 2)).hasSize(3).allMatch(row -> row.get(1).equals("applied"));
    assertThat(log()).as("to open the page gave no command").hasSize(before + 1);
    browser.until("another can be given", () -> isReady("button.main"));
    browser.press(Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB);
    browser.press(Keys.ENTER);
    browser.until("it was asked", () -> browser.text("#heard").startsWith("status: 3 of 3"));
    assertThat(browser.rows("Answers", 8))
        .allMatch(row -> row.get(7).contains("set-trigger w200_01?:stacktrace:1"));
    browser.assertClean("control by keys");
  }

  @Test
  void whatMakesNoSenseIsSaidBeforeItIsGiven() {
    browser.go("/?page=control&order=set-filter&args=%2F%28%2F");
    browser.until("it says why", () -> browser.text("#meant").contains("no regular expression"));
    assertThat(isReady("button.main")).isFalse();
    type("textarea", "w200_0*");
    reaches(3);
    type(".bar input:not(#issuer)", "isa=vax");
    reaches(0);
    browser.until("it can be given", () -> isReady("button.main"));
    browser.click("Give the command");
    browser.until(
        "the fleet says why",
        () -> browser.text("#heard").contains("target 'isa=vax' selects none of 3 cores"));
    browser.forgetLog(); // a refused preview is an error to Chromium
  }

  /** The last one: what a stranger says of a core stays on the page. */
  @Test
  @Order(Integer.MAX_VALUE)
  void hostileCommandsAndAnswersStayText() throws Exception {
    var topics = fleet.topics();
    try (KafkaProducer<byte[], byte[]> anyone =
        new KafkaProducer<>(
            fleet.settings().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      Control control =
          Control.newBuilder()
              .setId("evil")
              .setIssuer(EVIL)
              .setTarget(EVIL)
              .setName("set-filter")
              .setArguments(List.of(EVIL + "m".repeat(500_000)))
              .build();
      ControlResult answer =
          ControlResult.newBuilder()
              .setCommand("evil")
              .setSession("s-1")
              .setCore(RISCV)
              .setNumber(Long.MAX_VALUE)
              .setStatus(ControlStatus.APPLIED)
              .setSettings(List.of(EVIL))
              .build();
      var _ =
          anyone.send(
              new ProducerRecord<>(topics.control(), 0, null, ConfluentFrame.encode(control)));
      anyone
          .send(new ProducerRecord<>(topics.controlResults(), ConfluentFrame.encode(answer)))
          .get();
      anyone.send(new ProducerRecord<>(topics.control(), 0, null, new byte[] {1, 2})).get();
    }
    browser.go("/?page=control");
    assertThat(browser.script("return window.evil ?? null")).isNull();
    assertThat(browser.number("return document.querySelectorAll('img, main script').length"))
        .isZero();
    assertThat(browser.rows("Audit log", 4)).anyMatch(row -> row.get(3).contains("<img src=x"));
    assertThat(browser.rows("What cores trace", 4))
        .anyMatch(row -> row.get(3).contains("<img src=x"));
    Object obeyed =
        browser.script(
            "return [...document.querySelectorAll('body *')].flatMap((one) => [one.title ?? '',"
                + " ...[...one.childNodes].filter((kid) => kid.nodeType === 3).map((kid) =>"
                + " kid.data)]).filter((text) => text.length > 200000 ||"
                + " /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e"
                + "\\u2066-\\u2069]/.test(text)).map((text) => text.slice(0, 80))");
    assertThat((List<?>) obeyed).isEmpty();
    browser.assertClean("control with hostile texts");
  }

  @Test
  void aMemberThatOnlyReadsSaysSo() throws Exception {
    try (Pipeline reader =
        PipelineService.start(fleet.member("page-reader", HttpSettings.LOCAL, false))) {
      browser.turnTo(reader.httpUri());
      browser.go("/?page=control&args=w200_0*&target=isa%3Driscv64");
      browser.until("it says so", () -> browser.text("#readonly").contains("--commands"));
      browser.until("there is a preview", () -> browser.rows("Preview", 2).size() == 1);
      assertThat(browser.rows("Preview", 2).getFirst()).containsExactly("w200_0*", "100");
      assertThat(isReady("button.main")).isFalse();
      assertThat(browser.rows("Audit log", 1)).isNotEmpty();
      browser.assertAccessible("control that only reads");
      browser.assertClean("control that only reads");
    }
  }

  @Test
  void coresAppearOnAPageThatWasOpenedBeforeThem() throws Exception {
    Topics later = new Topics("control-page-later");
    try (Pipeline member =
        PipelineService.start(
            fleet.member("later", HttpSettings.LOCAL, true).but().topics(later).build())) {
      browser.turnTo(member.httpUri());
      browser.go("/?page=control");
      browser.until("none is there", () -> browser.text("main").contains("No core has sent"));

      Ran.well(
          "emulate --bootstrap %s --prefix %s --image zoo-riscv64-mcount -- fib 3"
              .formatted(fleet.bootstrap(), later.prefix())
              .split(" "));

      browser.until("it appears", () -> browser.rows("What cores trace", 3).size() == 1);
      assertThat(browser.text("main")).doesNotContain("No core has sent");
      browser.assertClean("control that was opened early");
    }
  }
}
