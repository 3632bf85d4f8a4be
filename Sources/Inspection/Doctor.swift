internal import BusProtocol
internal import Primitives
internal import SinkState

/// The rules by which `doctor` judges what it has seen: facts in, checks out, in the order of the page.
public enum Doctor {
  public static func checks(_ facts: DoctorFacts) -> [DoctorCheck] {
    [broker(facts)] + brokerParts(facts) + [
      journal(facts), disk(facts), rights(facts), clock(facts),
    ]
      + sinks(facts) + strangers(facts) + archive(facts) + facts.services.map { service($0, facts) }
      + [openFiles(facts)]
  }

  /// What the whole comes to.
  public enum Verdict: Sendable { case healthy, failing, unaccounted }

  public static func verdict(_ checks: [DoctorCheck]) -> Verdict {
    if checks.contains(where: { $0.outcome == .unaccounted }) { return .unaccounted }
    return checks.contains(where: { $0.outcome == .failed }) ? .failing : .healthy
  }

  private static func broker(_ facts: DoctorFacts) -> DoctorCheck {
    switch facts.broker {
    case .answered(let status):
      return DoctorCheck(
        "broker", .ok,
        "answers at \(facts.bus), offsets \(status.number("earliest")) ..< \(status.number("head"))"
      )
    case .silent(let why, let somebodyListens):
      return DoctorCheck(
        "broker", .failed, "\(facts.bus): \(why)",
        advice: advice(toReach: why, somebodyListens))
    }
  }

  private static func advice(toReach why: String, _ somebodyListens: Bool) -> String {
    // It has no key to authorise yet, and the finding says what to give.
    if why.contains("--curve-key") {
      return "give it a key, and authorise that with --administer '*'"
    }
    if why.hasPrefix("unknown host") {
      return "correct the address, or make the name known to this machine"
    }
    if why.contains("DENIED") {
      return "it runs: there, `eventbus keys authorize` this program's key with --administer '*'"
    }
    return somebodyListens
      ? "something else listens there: stop it, or give the broker other ports (--port-base)"
      : "start it: `eventbus broker` or `eventbus up`, or say where it is with --bus"
  }

  private static func brokerParts(_ facts: DoctorFacts) -> [DoctorCheck] {
    guard case .answered(let status) = facts.broker else { return [] }
    return [
      version(status, facts), intake(status), durability(status), ledger(status),
      refusals(status), retention(status),
    ]
  }

  private static func version(_ status: ControlMap, _ facts: DoctorFacts) -> DoctorCheck {
    let version = status.text("version")
    guard version != facts.version else { return DoctorCheck("version", .ok, version) }
    return DoctorCheck(
      "version", .note, "the broker is \(version), this program \(facts.version)",
      advice: "restart what still runs the older one")
  }

  private static func intake(_ status: ControlMap) -> DoctorCheck {
    let trouble = status.text("trouble")
    guard !trouble.isEmpty else { return DoctorCheck("intake", .ok, "new events are taken") }
    return DoctorCheck(
      "intake", .failed, "new events are refused: \(trouble)",
      advice: "do what it says; producers keep their events and send them again")
  }

  private static func durability(_ status: ControlMap) -> DoctorCheck {
    let mode = status.text("durability")
    guard mode != "fsync" else { return DoctorCheck("durability", .ok, "fsync") }
    return DoctorCheck(
      "durability", .note, "\(mode): acknowledged events can be lost in a crash",
      advice: "start the broker with --durability fsync where that matters")
  }

  /// received = stored + duplicate + refused + not yet durable.
  private static func ledger(_ status: ControlMap) -> DoctorCheck {
    guard case .map(let ledger)? = status["ledger"] else {
      return DoctorCheck("ledger broker", .skipped, "the broker tells none")
    }
    let received = ledger.number("received")
    let settled =
      ledger.number("stored") + ledger.number("duplicate") + ledger.number("refused")
    let sum =
      "events received \(received) = stored \(ledger.number("stored")) + duplicate "
      + "\(ledger.number("duplicate")) + refused \(ledger.number("refused"))"
    if received == settled { return DoctorCheck("ledger broker", .ok, sum) }
    if received > settled, ledger.number("bytesInFlight") > 0 {
      return DoctorCheck(
        "ledger broker", .ok, sum + " + \(received - settled) on their way to disk")
    }
    return DoctorCheck(
      "ledger broker", .unaccounted, "does not add up: \(sum)",
      advice: "keep the broker's logs and data, and report it")
  }

  private static func refusals(_ status: ControlMap) -> DoctorCheck {
    let entries = status.list("refused").compactMap { entry -> ControlMap? in
      if case .map(let map) = entry { map } else { nil }
    }
    let total = entries.reduce(0) { $0 + $1.number("count") }
    guard total > 0 else { return DoctorCheck("refused", .ok, "nothing since the broker's start") }
    // A gap only follows what was refused before it, in the same producer's line.
    let causes = entries.filter { $0.text("reason") != "SEQUENCE_GAP" }
    let most = (causes.isEmpty ? entries : causes).max { $0.number("count") < $1.number("count") }
    return DoctorCheck(
      "refused", .note,
      "\(total) events and requests since the broker's start, one sent again counts again, most for \(most?.text("reason") ?? "?")",
      advice: "`eventbus status` shows one of each reason; producers were told")
  }

  /// Who keeps the journal from shrinking: what an absent subscriber has not read is kept for it.
  private static func retention(_ status: ControlMap) -> DoctorCheck {
    let (earliest, head) = (status.number("earliest"), status.number("head"))
    let days = status.number("retentionSeconds") / 86_400
    let mebibytes = status.number("journalBytes") >> 20
    let finding = "\(mebibytes) MiB kept, for \(days.counted("day")) once all have read them"
    var holder: ControlMap?
    for case .map(let one) in status.list("consumers") where !one.flag("connected") {
      if one.number("cursor") < holder?.number("cursor") ?? head { holder = one }
    }
    // Below a gibibyte nobody is in anybody's way.
    guard let holder, mebibytes >= 1024, holder.number("lag") > (head - earliest) / 2 else {
      return DoctorCheck("retention", .ok, finding)
    }
    return DoctorCheck(
      "retention", .note,
      finding
        + "; '\(holder.text("name"))' is away and holds \(holder.number("lag").counted("event")) of it",
      advice: "start it, or `eventbus consumers delete` it")
  }

  private static func journal(_ facts: DoctorFacts) -> DoctorCheck {
    switch facts.journal {
    case .none:
      return DoctorCheck(
        "journal", .skipped, "there is none in \(facts.data)",
        advice: "give --data where the broker keeps it, on its machine")
    case .unreadable(let why):
      return DoctorCheck(
        "journal", .failed, why, advice: "check the directory and its rights, and the disk")
    case .read(let journal):
      guard journal.damages.isEmpty else {
        return DoctorCheck(
          "journal", .unaccounted,
          "\(journal.damages.count.counted("damaged place")), the first: \(journal.damages[0])",
          advice: "`eventbus journal verify` names them all; stop the broker and "
            + "`eventbus journal repair`")
      }
      if journal.lost > 0 {
        return DoctorCheck(
          "journal", .unaccounted, "an earlier repair gave up \(journal.lost.counted("event"))",
          advice:
            "their offsets are in the repair's report; sinks that had read them still have them")
      }
      let size = "\(journal.bytes.counted("byte")), offsets \(journal.earliest) ..< \(journal.head)"
      return DoctorCheck(
        "journal", .ok, (journal.isWhole ? "verified: " : "newest segment verified: ") + size,
        advice: journal.isWhole ? "" : "--full reads all of it")
    }
  }

  private static func archive(_ facts: DoctorFacts) -> [DoctorCheck] {
    guard let archive = facts.archive else { return [] }
    guard archive.trouble.isEmpty else {
      return [
        DoctorCheck(
          "archive", .failed, archive.trouble, advice: "check \(archive.directory) and its rights")
      ]
    }
    let faults =
      archive.missingFiles.map { "\($0) is missing" } + archive.wrongSizes + archive.overlaps
    if let first = faults.first {
      return [
        DoctorCheck(
          "archive", .unaccounted,
          "\(faults.count.counted("fault")) in \(archive.parts.counted("part")): \(first)",
          advice: "`eventbus archive verify --dir \(archive.directory)` names them all; "
            + "restore the files from a backup")
      ]
    }
    if let stray = archive.strayFiles.first {
      return [
        DoctorCheck(
          "archive", .note,
          "\(archive.strayFiles.count.counted("file that is no part", "files that are no parts")), such as \(stray)",
          advice: "the archiver removes its own at its start; others are yours")
      ]
    }
    return [
      DoctorCheck(
        "archive", .ok,
        "\(archive.parts.counted("part")), \(archive.events.counted("event")), all files there")
    ]
  }

  private static func service(
    _ service: DoctorFacts.Service, _ facts: DoctorFacts
  ) -> DoctorCheck {
    let name = "service \(service.name)"
    switch service.answer {
    case .ready: return DoctorCheck(name, .ok, "ready at \(service.address)")
    case .notReady(let text):
      return DoctorCheck(
        name, .failed,
        "runs at \(service.address), but is not ready"
          + (text.isEmpty || text == "not ready" ? "" : ": \(text)"),
        advice: "see its log, and \(service.address)/status")
    case .stranger(let text):
      return DoctorCheck(
        name, .failed, "something else has its port, \(service.address): \(text)",
        advice: "stop that, or give --port-base")
    case .down:
      guard service.isExpected else {
        return DoctorCheck(name, .skipped, "not running at \(service.address), and not used here")
      }
      let folder = facts.sinks.first { $0.name == service.name }?.delivery?.folder
      return DoctorCheck(
        name, .failed, "has data here and does not run at \(service.address)",
        advice: "start it: `eventbus \(service.name)` or `eventbus up`; its events wait for it"
          + (folder.map { "; if it is no longer used: " + retiring(service.name, $0) } ?? ""))
    }
  }
}
