package dev.retstack.answers.http;

import static dev.retstack.answers.http.Parameter.APART;
import static dev.retstack.answers.http.Parameter.ARGUMENTS;
import static dev.retstack.answers.http.Parameter.AS;
import static dev.retstack.answers.http.Parameter.AT;
import static dev.retstack.answers.http.Parameter.COMMAND;
import static dev.retstack.answers.http.Parameter.CORE;
import static dev.retstack.answers.http.Parameter.DEPTH;
import static dev.retstack.answers.http.Parameter.DETAIL;
import static dev.retstack.answers.http.Parameter.FORMAT;
import static dev.retstack.answers.http.Parameter.FROM;
import static dev.retstack.answers.http.Parameter.FUNCTION;
import static dev.retstack.answers.http.Parameter.FUNCTIONS;
import static dev.retstack.answers.http.Parameter.IN;
import static dev.retstack.answers.http.Parameter.KIND;
import static dev.retstack.answers.http.Parameter.LAST;
import static dev.retstack.answers.http.Parameter.LIMIT;
import static dev.retstack.answers.http.Parameter.LINES;
import static dev.retstack.answers.http.Parameter.MATCH;
import static dev.retstack.answers.http.Parameter.NODES;
import static dev.retstack.answers.http.Parameter.OFFSET;
import static dev.retstack.answers.http.Parameter.PLACES;
import static dev.retstack.answers.http.Parameter.ROWS;
import static dev.retstack.answers.http.Parameter.SESSION;
import static dev.retstack.answers.http.Parameter.SESSIONS_SUMMED;
import static dev.retstack.answers.http.Parameter.SEVERITY;
import static dev.retstack.answers.http.Parameter.SORT;
import static dev.retstack.answers.http.Parameter.TARGET;
import static dev.retstack.answers.http.Parameter.TASK;
import static dev.retstack.answers.http.Parameter.TO;
import static dev.retstack.answers.http.Parameter.UNIT;
import static dev.retstack.answers.http.Parameter.WHAT;
import static dev.retstack.answers.http.Parameter.WIDTH;
import static dev.retstack.answers.http.Parameter.WINDOW;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Everything that can be asked over HTTP, as data. Both the routes and {@code /openapi.json} are
 * made from it.
 */
public enum Endpoint {
  REPORT(
      "/report",
      "Functions, edges, losses and the hash of the result; of a core or a time, if one is given",
      "{unit,records,lost,untraced,completeness,resultHash,functions,edges,stats,forgotten,partitions,parts}",
      FORMAT,
      UNIT,
      FUNCTIONS,
      CORE,
      SESSION,
      SESSIONS_SUMMED,
      FROM,
      TO,
      AT,
      WINDOW),
  EDGES(
      "/edges",
      "Who called whom, how often and how long",
      "{unit,edges,partitions,parts}",
      FORMAT,
      UNIT,
      SESSIONS_SUMMED,
      FUNCTIONS,
      LIMIT,
      OFFSET),
  OPEN_CALLS(
      "/calls/open",
      "Calls that have not ended, and for how long they are open",
      "{open,calls,partitions,parts}",
      FORMAT,
      CORE,
      SESSION,
      TASK,
      LIMIT,
      OFFSET),
  SESSIONS(
      "/sessions",
      "Cores, records and losses of each session",
      "{sessions,partitions,parts}",
      FORMAT,
      LIMIT,
      OFFSET),
  COMPLETENESS(
      "/completeness",
      "Records received of all that a capture without loss has, in percent: in all, by partition, by core",
      "{records,lost,untraced,completeness,forgotten,refused,byPartition,cores,partitions,parts}",
      FORMAT,
      LIMIT,
      OFFSET),
  GRAPH(
      "/graph",
      "Call trees, one row per core and task; of a time, if one is given",
      "[{core,session,task,instance,taskName,notKept,calls}]",
      FORMAT,
      CORE,
      SESSION,
      TASK,
      DEPTH,
      FROM,
      TO,
      AT,
      WINDOW,
      LIMIT,
      OFFSET),
  STACKS(
      "/stacks",
      "What calls add up to by the stack in which they ran: a node for each function in each stack of"
          + " callers, as columns; of a core or a time, if one is given",
      "{unit,calls,total,nodes,nodesLeftOut,notKept,stacks,callers,partitions,parts}",
      FORMAT,
      UNIT,
      CORE,
      SESSION,
      SESSIONS_SUMMED,
      TASK,
      FUNCTION,
      IN,
      APART,
      FROM,
      TO,
      AT,
      WINDOW,
      NODES),
  DURATIONS(
      "/durations",
      "How long single calls took: a histogram, and percentiles that are at most a sixteenth too"
          + " long; of the calls that trees keep",
      "{function,unit,calls,endUnknown,notKept,min,max,avg,p50,p90,p95,p99,durations,partitions,parts}",
      FORMAT,
      UNIT,
      FUNCTION,
      CORE,
      SESSION,
      SESSIONS_SUMMED,
      TASK,
      FROM,
      TO,
      AT,
      WINDOW),
  TIMELINE(
      "/timeline",
      "What cores did when: for each line of a core and each stretch of time how much of it calls"
          + " take, and the longest; at most width x depth rows of a core",
      "{cores,rows}",
      FORMAT,
      CORE,
      SESSION,
      FROM,
      TO,
      AT,
      WINDOW,
      WIDTH,
      LINES,
      DETAIL,
      AS),
  HITS(
      "/hits",
      "Where calls of the functions with such names begin, in all the time or in a part of it: how"
          + " many there are, and the first of each stretch of time",
      "{calls,functions,stretch,hits}",
      FORMAT,
      MATCH,
      CORE,
      SESSION,
      FROM,
      TO,
      AT,
      WINDOW,
      PLACES,
      AS),
  ANOMALIES(
      "/anomalies",
      "Defects and losses, with exact counts and a stack, most severe first; of a time, if"
          + " one is given",
      "[{kind,core,task,function,expected,received,time,stack,severity,caller,count,message,cause,"
          + "cure,taskName,session,place,times,kept,last,cores,tasks,groups}]",
      FORMAT,
      CORE,
      SESSION,
      TASK,
      KIND,
      SEVERITY,
      ROWS,
      FROM,
      TO,
      AT,
      WINDOW,
      LIMIT,
      OFFSET),
  ABOUT(
      "/about",
      "What is asked here: a running job, or a recorded trace with its cores and how far it was read",
      "{kind,name,phase,chunks,of,records,failure,readings,cores,notices,control}"),
  TRACE(
      "/trace",
      "The chunks of a time as a recorded trace, with their images: what every verb reads",
      "",
      CORE,
      SESSION,
      FROM,
      TO,
      AT,
      WINDOW),
  ANOMALY_EVENTS(
      "/anomalies/events",
      "Anomalies of all members as they are published, as server-sent events; Last-Event-ID"
          + " continues a broken stream",
      "",
      CORE,
      TASK,
      KIND),
  CORES(
      "/cores",
      "How far each core came, and how it ended",
      "{partitions,parts,cores}",
      FORMAT,
      LIMIT,
      OFFSET,
      AS),
  PARTS(
      "/parts",
      "Running members; for each partition its owner, position and age, or why it is missing",
      "{nodes,partitions,parts}",
      FORMAT),
  HISTORY(
      "/history",
      "How fast the job worked in the last half hour: records applied, lag, losses and what"
          + " checkpoints cost, of all members together",
      "{seconds,members,missing,history}",
      FORMAT),
  PARTS_OF(
      "/parts/own",
      "For other members: the partitions of this one, as a stream of bytes",
      "",
      WHAT,
      CORE,
      SESSION),
  TOP(
      "/top",
      "The first functions and cores, losses, and sums over all: cheaper than a report by far",
      "{unit,records,lost,untraced,completeness,cores,byPartition,topCores,functionCount,self,functions,stats,partitions,parts}",
      FORMAT,
      UNIT,
      SESSIONS_SUMMED,
      FUNCTIONS,
      SORT,
      LIMIT),
  STATS(
      "/stats",
      "Losses and defects, and the position of each partition",
      "{unit,records,lost,untraced,completeness,stats,forgotten,partitions,parts,positions}",
      FORMAT,
      UNIT),
  CONTROL(
      "/control",
      "Whether this member takes commands, and what each core said last of what it traces",
      "{allowed,token,kafka,prefix,allAnswers,cores}"),
  CONTROL_PREVIEW(
      "/control/preview",
      "What a command would mean now: which running cores it selects, and how many functions of"
          + " which images its patterns match",
      "{cores,running,ignoresLabels,imagesLeftOut,imagesMissing,rows}",
      COMMAND,
      TARGET,
      ARGUMENTS),
  CONTROL_LOG(
      "/control/log",
      "The audit log: who commanded what and when, and how many cores did it",
      "{allCommands,allAnswers,commands}",
      LAST),
  COMMANDS(
      "/control/commands",
      "Gives a command, and answers with what each core said, as server-sent events: sent, answers,"
          + " done",
      ""),
  LIVE("/health/live", "200 while the process serves", "{status}"),
  READY(
      "/health/ready",
      "503 until this member is in its group and each of its partitions is open, then 200;"
          + " which are being loaded now, and for how long Kafka has not taken a checkpoint",
      "{status,loading,checkpointPendingSeconds}"),
  METRICS("/metrics", "Numbers for Prometheus", ""),
  OPENAPI("/openapi.json", "This document", "{openapi,info,paths,components}"),
  SUBJECTS("/subjects", "Schema registry, read-only: the subjects", "[]"),
  VERSIONS("/subjects/{subject}/versions", "Schema registry: versions of a subject", "[]"),
  LATEST(
      "/subjects/{subject}/versions/latest",
      "Schema registry: the schema of a subject",
      "{subject,version,id,schema}"),
  SCHEMA("/schemas/ids/{id}", "Schema registry: a schema by its id", "{schema}"),
  TYPES("/schemas/types", "Schema registry: types of schemas", "[]"),
  CONFIG("/config", "Schema registry: how schemas evolve", "{compatibilityLevel}"),
  PAGES("/", "Pages for people, which ask the questions above", ""),
  PAGE_FILES("/web/{version}/{file}", "Files of the pages", "");

  /** First parts of all paths. */
  private static final Set<String> FIRST =
      Arrays.stream(values())
          .map(endpoint -> endpoint.path.split("/", 3)[1])
          .collect(Collectors.toUnmodifiableSet());

  private final String path;
  private final String summary;
  private final String shape;
  private final List<Parameter> parameters;

  Endpoint(String path, String summary, String shape, Parameter... parameters) {
    this.path = path;
    this.summary = summary;
    this.shape = shape;
    this.parameters = List.of(parameters);
  }

  public String path() {
    return path;
  }

  public String summary() {
    return summary;
  }

  /**
   * Fields of its JSON that are always there: <code>{a,b}</code> an object, {@code [{a,b}]} an
   * array of objects, {@code []} an array of texts or numbers; empty where it is not JSON.
   */
  public String shape() {
    return shape;
  }

  public List<Parameter> parameters() {
    return parameters;
  }

  /** Whether it is asked with POST, not with GET. */
  public boolean isPost() {
    return this == COMMANDS;
  }

  /** Whether it is about commands: only a member that knows the rules of fleets answers it. */
  public boolean isControl() {
    return label(path).equals("control");
  }

  /** Whether its answer comes in all forms. */
  public boolean isQuery() {
    return parameters.contains(FORMAT);
  }

  /**
   * Accepts the parameters of a request.
   *
   * @throws BadRequestException for the first that is unknown, or has a value that is not allowed
   */
  public void check(Map<String, String> given) {
    for (Map.Entry<String, String> one : given.entrySet()) {
      parameters.stream()
          .filter(parameter -> parameter.name().equals(one.getKey()))
          .findFirst()
          .orElseThrow(() -> unknown(one.getKey()))
          .check(one.getValue());
    }
  }

  private BadRequestException unknown(String name) {
    String known = parameters.stream().map(Parameter::name).collect(Collectors.joining(", "));
    return new BadRequestException(
        "no parameter '%s' of %s".formatted(name, path),
        known.isEmpty() ? "it has none" : "use " + known);
  }

  /** The first part of a path where there is such a path, {@code other} for any other. */
  public static String label(String path) {
    int end = path.indexOf('/', 1);
    String first = path.isEmpty() ? "" : path.substring(1, end < 0 ? path.length() : end);
    return FIRST.contains(first) ? first : "other";
  }

  /** Whether the path is one of the pages, which hold nothing of any trace. */
  static boolean isPage(String path) {
    String label = label(path);
    return path.startsWith("/") && (label.isEmpty() || label.equals("web"));
  }

  /** Whether the path is one of a question about the whole job. */
  public static boolean isAboutTheJob(String path) {
    return Arrays.stream(values())
        .anyMatch(
            e ->
                (e.isQuery() || e.isControl() || e == ANOMALY_EVENTS || e == TRACE)
                    && e.path.equals(path));
  }

  /** Paths of these, for a caller who asked for another. */
  static String paths(Collection<Endpoint> endpoints) {
    return endpoints.stream().map(Endpoint::path).collect(Collectors.joining(" "));
  }
}
