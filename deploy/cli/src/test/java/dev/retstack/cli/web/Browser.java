package dev.retstack.cli.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.WebDriverWait;

/** The system's Chromium without a window, at the pages of one server. */
final class Browser implements AutoCloseable {
  /** What the browser measured of the answers for steps, and the page of itself. */
  static final String STEPS =
      """
      const part = (all, share) => Math.round(all.sort((a, b) => a - b)[Math.floor((all.length - 1) * share)]);
      const both = (all) => part(all, 0.5) + " / " + part(all, 0.95);
      const asked = performance.getEntriesByType("resource").filter((one) => one.name.includes("/timeline"));
      const page = (name) => both(performance.getEntriesByName(name).map((one) => one.duration)) + " ms";
      return "whole " + page("step") + ", finer where it was coarse " + page("step-fine") + ", server " + both(asked.map((one) => one.responseStart - one.requestStart))
        + " ms, transfer " + both(asked.map((one) => one.responseEnd - one.responseStart)) + " ms, sorting in "
        + page("step-take") + ", drawing " + page("step-draw") + ", bytes " + both(asked.map((one) => one.decodedBodySize))
        + ", packed " + both(asked.map((one) => one.encodedBodySize));
      """;

  private static final Path SCREENSHOTS = Path.of("target", "screenshots");

  /** Between two looks, each of which costs browser and test something. */
  private static final long PAUSE_NANOS = 20_000_000;

  private static final long PAUSE_NANOS_MAX = 300_000_000;

  private final ChromeDriver driver;
  private String server;
  private Duration patience = Duration.ofSeconds(60);

  private Browser(ChromeDriver driver, URI server) {
    this.driver = driver;
    turnTo(server);
  }

  /** Opens addresses of this server from now on; a page of one that is gone asks in vain. */
  void turnTo(URI server) {
    driver.get("about:blank");
    forgetLog();
    this.server = server.toString().replaceAll("/$", "");
  }

  /** Whether both programs are in the path. */
  static boolean isThere() {
    return Stream.of("chromium", "chromedriver").allMatch(name -> find(name) != null);
  }

  private static Path find(String program) {
    return Stream.of(System.getenv("PATH").split(":"))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }

  static Browser open(URI server) {
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(find("chromium").toFile());
    options.addArguments(
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars");
    options.setCapability("goog:loggingPrefs", logs);
    ChromeDriverService service =
        new ChromeDriverService.Builder()
            .usingDriverExecutable(find("chromedriver").toFile())
            .usingAnyFreePort()
            .build();
    Browser browser = new Browser(new ChromeDriver(service, options), server);
    browser.size(1280, 800);
    return browser;
  }

  /** The size of what is in sight, whatever the window has around it. */
  void size(int width, int height) {
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  void prefersDark(boolean dark) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
  }

  /** Opens an address of the server, and waits until the page says something. */
  void go(String address) {
    open(address);
    until("the page is there", () -> !text("#status").isEmpty());
  }

  /** Opens an address of the server. */
  void open(String address) {
    driver.get(server + address);
  }

  /** What was written to the console until now is expected. */
  void forgetLog() {
    driver.manage().logs().get(LogType.BROWSER);
  }

  String address() {
    return driver.getCurrentUrl().substring(server.length());
  }

  /** The visible text of the first element; empty where there is none. */
  String text(String css) {
    return String.valueOf(
        script("const e = document.querySelector(arguments[0]); return e ? e.innerText : ''", css));
  }

  WebElement element(String css) {
    return driver.findElement(By.cssSelector(css));
  }

  /** The first cells of the rows in sight of a table. */
  List<List<String>> rows(String table, int cells) {
    @SuppressWarnings("unchecked")
    List<List<String>> rows =
        (List<List<String>>)
            script(
                "return [...document.querySelectorAll(`table[aria-label=\"${arguments[0]}\"] tbody"
                    + " tr:not(.space)`)].map((row) => [...row.cells].slice(0, arguments[1])"
                    + ".map((cell) => cell.innerText.trim()))",
                table,
                cells);
    return rows;
  }

  /** The longest of what the page measured by that name, in milliseconds; 0 where nothing was. */
  long longest(String measure) {
    return number(
        "return Math.ceil(Math.max(0, ...performance.getEntriesByName(arguments[0])"
            + ".map((one) => one.duration)))",
        measure);
  }

  Object script(String script, Object... arguments) {
    return ((JavascriptExecutor) driver).executeScript(script, arguments);
  }

  long number(String script, Object... arguments) {
    return ((Number) script(script, arguments)).longValue();
  }

  Actions mouse() {
    return new Actions(driver);
  }

  /** Presses keys where the focus is. */
  void press(CharSequence... keys) {
    new Actions(driver).sendKeys(keys).perform();
  }

  void shift(CharSequence key) {
    new Actions(driver).keyDown(Keys.SHIFT).sendKeys(key).keyUp(Keys.SHIFT).perform();
  }

  void click(String buttonText) {
    driver.findElement(By.xpath("//button[normalize-space()='" + buttonText + "']")).click();
  }

  /** Waits longer from now on, for what takes long. */
  void waitsAtMost(Duration time) {
    patience = time;
  }

  void until(String what, Supplier<Boolean> holds) {
    long began = System.nanoTime();
    new WebDriverWait(
            driver,
            patience,
            Duration.ZERO,
            Clock.systemUTC(),
            _ ->
                LockSupport.parkNanos(
                    Math.clamp((System.nanoTime() - began) / 5, PAUSE_NANOS, PAUSE_NANOS_MAX)))
        .withMessage(() -> what + "; the page says: " + text("body"))
        .until(_ -> holds.get());
  }

  /** For people to look at; a copy is in no commit. */
  void screenshot(String name) throws IOException {
    Files.createDirectories(SCREENSHOTS);
    Files.write(SCREENSHOTS.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
  }

  /** What is in sight, for a document: a few ten kilobytes. */
  void picture(Path file) throws IOException {
    Map<String, Object> taken =
        driver.executeCdpCommand("Page.captureScreenshot", Map.of("format", "webp", "quality", 70));
    Files.write(file, Base64.getDecoder().decode((String) taken.get("data")));
  }

  /** Nothing went wrong in the page, and it asked nobody else. */
  void assertClean(String page) {
    List<String> said =
        driver.manage().logs().get(LogType.BROWSER).getAll().stream()
            .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
            .map(LogEntry::getMessage)
            .toList();
    assertThat(said).as(page).isEmpty();
    Object asked = script("return performance.getEntriesByType('resource').map(e => e.name)");
    assertThat((List<?>) asked)
        .as(page)
        .isNotEmpty()
        .allSatisfy(url -> assertThat(String.valueOf(url)).startsWith(server + "/"));
  }

  /** What axe finds serious in what is shown. */
  void assertAccessible(String page) throws IOException {
    try (InputStream axe = Browser.class.getResourceAsStream("/axe.min.js")) {
      script(new String(axe.readAllBytes(), StandardCharsets.UTF_8));
    }
    Object found =
        ((JavascriptExecutor) driver)
            .executeAsyncScript(
                """
                const done = arguments[arguments.length - 1];
                axe.run(document).then(
                  (result) => done(result.violations
                    .filter((v) => v.impact === 'serious' || v.impact === 'critical')
                    .map((v) => v.id + ': ' + v.nodes.map((n) => n.html).slice(0, 3).join(' '))),
                  (failure) => done([String(failure)]));
                """);
    assertThat((List<?>) found).as(page).isEmpty();
  }

  /** Bytes of the page's heap that are in use, after a collection. */
  long heap() {
    driver.executeCdpCommand("HeapProfiler.collectGarbage", Map.of());
    Map<String, Object> usage = driver.executeCdpCommand("Runtime.getHeapUsage", Map.of());
    return ((Number) usage.get("usedSize")).longValue();
  }

  @Override
  public void close() {
    driver.quit();
  }
}
