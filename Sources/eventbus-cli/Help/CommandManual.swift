import ServiceRuntime

/// What `help COMMAND` and the manual pages say beyond the definition: how a command behaves, and what it
/// exits with. Commands that are not here have their summary and the usual exit codes.
enum CommandManual {
  struct Page {
    var details: [String]
    var exitCodes: [ExitCode]

    init(_ details: [String], _ exitCodes: [ExitCode]) {
      self.details = details
      self.exitCodes = exitCodes
    }
  }

  /// The definition with what this table has of it.
  static func completed(_ definition: CommandDefinition) -> CommandDefinition {
    guard let page = pages[definition.name] else { return definition }
    var definition = definition
    definition.details = page.details
    definition.exitCodes = page.exitCodes
    return definition
  }

  static let pages: [String: Page] = services.merging(tools) { first, _ in first }

  private static let serviceText = """
    When it can be used it prints one line that begins with `ready` and has its addresses as key=value, \
    and tells a service manager that asks for it. SIGTERM and SIGINT end it in order within --grace; a \
    second signal ends it at once. /metrics (Prometheus), /healthz, /readyz and /status answer on \
    --metrics.
    """
  private static let serviceCodes: [ExitCode] = [
    .done, .failed, .usage, .dataDirectoryInUse, .diskError,
  ]
  private static let sinkText = """
    It keeps its cursor and a ledger of what became of each event in one transaction with its data, so \
    each event takes effect once however the process ends; `eventbus doctor` adds the ledgers up.
    """
  private static let publisherText = """
    Events are sent in order, in batches by the provider's limits. A destination that fails keeps \
    nobody from anything: its events wait in the journal. An event that is refused for itself becomes \
    a dead letter, kept whole: see `eventbus deadletters`.
    """

  private static let services: [String: Page] = [
    "up": Page(
      [
        "Starts each service as a child process, in order, waits until it is ready, prints the "
          + "addresses, and starts again what dies, ever more slowly; after eight failures in a row it "
          + "gives up and stops everything. Publishers start when their credentials are in the "
          + "environment, as EVENTBUS_SEGMENT_WRITE_KEY.",
        "Ctrl-C ends all of them in order; a second one at once, with 130 (143 by SIGTERM). Where it gives "
          + "up it exits with the code of the service that failed.",
      ],
      serviceCodes + [.fenced, .busUnreachable, .interrupted, .terminated]),
    "broker": Page(
      [
        "Acknowledges an event when it is on the disk (--durability fsync), and hands events out in "
          + "one order to all. One broker has a data directory; a second exits 73.", serviceText,
      ], serviceCodes),
    "collector": Page(
      [
        "Takes events over HTTP as Segment's and Mixpanel's libraries send them, and lists of JSON. "
          + "An answer comes when the events are on the broker's disk.", serviceText,
      ], serviceCodes),
    "archiver": Page(
      [
        "Writes parts of compressed NDJSON by day and hour of arrival, and a catalogue by which queries "
          + "find them.", sinkText, serviceText,
      ], serviceCodes + [.fenced]),
    "aggregator": Page(
      [
        "Counts every event once, in event time, by the reports of a file and those that are usual.",
        sinkText, serviceText,
      ], serviceCodes + [.fenced]),
    "segment": Page([publisherText, sinkText, serviceText], serviceCodes + [.fenced]),
    "mixpanel": Page([publisherText, sinkText, serviceText], serviceCodes + [.fenced]),
    "gameanalytics": Page([publisherText, sinkText, serviceText], serviceCodes + [.fenced]),
    "webhook": Page([publisherText, sinkText, serviceText], serviceCodes + [.fenced]),
  ]

  private static let tools: [String: Page] = [
    "publish": Page(
      [
        "Reads one JSON event a line, or makes events from arguments, and waits until the broker has "
          + "them on its disk. Lines that are refused are named on stderr with their number, and kept "
          + "with --refused. With --producer NAME the same file published again stores nothing twice: "
          + "the line's number is its sequence.",
        "With --count, --rate or --duration it is a load test with made events; `eventbus bench` "
          + "measures more.",
      ],
      [.done, .failed, .usage, .someInputRefused, .eventsUnaccounted, .fenced, .busUnreachable]),
    "tail": Page(
      [
        "Without --since it shows what comes from now on. --live reads the feed, which never slows "
          + "anybody and may have gaps; without it events come from the journal, none missing. --name "
          + "keeps a cursor at the broker: the next run goes on there.",
        "In a pattern * is any run of characters, \\* and \\\\ are literal. --where takes PATH=VALUE, "
          + "also !=, <, <=, >, >= and ~ (contains). Control characters of events never reach a "
          + "terminal.",
      ], [.done, .failed, .usage, .gap, .fenced, .busUnreachable]),
    "bench": Page(
      [
        "Starts a broker of its own in a temporary directory, producers that publish and subscribers "
          + "that each read everything, all as processes, so that they share nothing and the kernel "
          + "tells the CPU of each. At a --rate events are sent by a schedule that no answer changes, "
          + "and latency counts from the time at which each was meant to be sent: a stall is paid by "
          + "every event that it delayed. Without a rate, and without --slo, producers go as fast as "
          + "they can; latency is then that of full queues.",
        "A running bus is measured only where --bus names it: its events go to that bus's journal. The "
          + "environment's bus (EVENTBUS_URL, EVENTBUS_BUS, EVENTBUS_PORT_BASE) is never taken.",
        "Each event has its producer, sequence, intended time and a checksum. The verdict compares "
          + "what each subscriber got with what was published: lost, duplicated, reordered, corrupted "
          + "and invented events. On the durable path any of them, and any event that was refused or "
          + "not acknowledged, is exit 4; the live feed may have gaps.",
        "--slo doubles the rate until its p99 breaks or the bus falls behind, twice at a rate, then "
          + "halves the distance until it is known to 5 %. --histogram has every percentile in the "
          + "layout that HdrHistogram's plotters read, in microseconds.",
      ], [.done, .failed, .usage, .eventsUnaccounted, .busUnreachable]),
    "status": Page([], [.done, .failed, .usage, .busUnreachable]),
    "top": Page(
      [
        "Rates are those of the last interval. q or Ctrl-C gives the terminal back. Where stdout is no "
          + "terminal it looks twice, prints what it saw as text, and ends."
      ], [.done, .failed, .usage, .busUnreachable]),
    "doctor": Page(
      [
        "Looks at the broker, the journal's files, the disk, the clock, the archive's files, each "
          + "service's port, and at each sink: applied + duplicate + refused + dead + forgotten + not "
          + "matched must be cursor - start, and its cursor must be where the broker has it. What is "
          + "down is told, and does not keep the rest from being looked at; it ends within seconds.",
        "ok is in order, note is worth knowing, FAIL wants something done, LOST means that events are "
          + "lost or unaccounted for.",
      ], [.done, .failed, .usage, .eventsUnaccounted]),
    "report": Page(
      [
        "Asks the aggregator over HTTP. Without a name it lists the reports."
      ], [.done, .failed, .usage, .busUnreachable]),
    "journal verify": Page(
      ["Reads every record and compares its checksum, also beside a running broker."],
      [.done, .failed, .usage, .diskError]),
    "journal repair": Page(
      [
        "Needs the broker stopped. Damaged batches are set aside in damaged-* files, the lost offsets "
          + "are named, and a new epoch begins."
      ], [.done, .failed, .usage, .dataDirectoryInUse, .diskError]),
    "archive replay": Page(
      [
        "Sends archived events to named subscribers through the bus. Repeated, it goes on where it "
          + "stopped and sends nothing twice."
      ], [.done, .failed, .usage, .eventsUnaccounted, .busUnreachable]),
    "archive import": Page(
      ["Repeated, it stores nothing twice."],
      [.done, .failed, .usage, .someInputRefused, .eventsUnaccounted, .busUnreachable]),
  ]
}
