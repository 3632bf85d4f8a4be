import LoadTest
import Primitives
import ServiceRuntime

// For people.
extension BenchReport {
  var text: String {
    var lines = ["bench      \(head)"]
    if let slo = settings.slo { lines += ladder(slo) }
    lines.append("rate       " + rates)
    if !outcome.isBacklog, !outcome.latencies.isEmpty { lines += latencies }
    lines.append("CPU        " + cpu)
    lines.append("memory     " + memory)
    lines.append("verdict    " + verdictText)
    return lines.joined(separator: "\n") + "\n"
  }

  private var head: String {
    "\(settings.mode.rawValue), durability \(TerminalText.escape(durability))"
      + (isInMemory ? " (in memory: give --data on a disk), " : ", ")
      + (settings.bus.map(TerminalText.escape) ?? "a broker of its own") + ", "
      + count(settings.producers, "producer") + ", " + count(settings.subscribers, "subscriber")
      + ", \(settings.size.counted("byte")), up to \(settings.batch) a batch"
  }

  private func count(_ number: Int, _ word: String) -> String {
    "\(number) \(word)\(number == 1 ? "" : "s")"
  }

  private func ladder(_ slo: Duration) -> [String] {
    var table = Table([
      .init("events/s", .right), .init("p99 ms", .right), .init("kept"),
    ])
    for step in steps.sorted(by: { $0.rate < $1.rate }) {
      table.append(["\(Int(step.rate))", milliseconds(step.p99), step.isKept ? "yes" : "no"])
    }
    let found =
      best.map { "highest    \(Int($0)) events/s keep p99 <= \(milliseconds(slo.nanoseconds)) ms" }
      ?? "highest    no rate kept p99 <= \(milliseconds(slo.nanoseconds)) ms"
    return [table.text.split(separator: "\n").joined(separator: "\n"), found]
  }

  private var rates: String {
    let megabytes = outcome.rate * Double(settings.size) / 1e6
    let received =
      "\(Int(outcome.rate)) events/s, \(tenths(megabytes)) MB/s"
      + counted
    let published =
      "published \(outcome.acknowledged.counted("event")) in \(hundredths(outcome.publishSeconds)) s"
    guard outcome.isBacklog else { return "\(received); \(published)" }
    return
      "backlog of \(outcome.acknowledged.counted("event")) built at \(Int(outcome.publishRate))/s, "
      + "read at \(received)"
  }

  /// What the rate counts.
  private var counted: String {
    switch settings.subscribers {
    case 0: " acknowledged"
    case 1: " received" + period
    case let many: " received by the slowest of \(many)" + period
    }
  }

  private var period: String {
    guard outcome.isWholeRun else { return outcome.isBacklog ? "" : " after the warm-up" }
    return outcome.isBacklog ? " from the start of the reader on" : " from the first to the last"
  }

  private var latencies: [String] {
    let all = outcome.latencies
    let line = Self.percentiles.map {
      "\($0.key) \(milliseconds(all.value(atPercentile: $0.value)))"
    }
    let from =
      settings.rate == nil && settings.slo == nil
      ? "under full load, from publish" : "from the intended time"
    var lines = ["latency    ms, \(from): " + line.joined(separator: "  ")]
    let late = outcome.lateness
    if !late.isEmpty {
      let p99 = late.value(atPercentile: 99)
      // Whoever measures late finds the bus late.
      let isShort = p99 > all.value(atPercentile: 99) / 2
      lines.append(
        "           of it by the load generator: p99 \(milliseconds(p99))  max "
          + milliseconds(late.maximum)
          + (isShort ? "; more than half: this machine is short of CPU for such a test" : ""))
    }
    return lines
  }

  private var cpu: String {
    let parts = cpuParts.map { part in
      part.nanoseconds.map { "\(part.name) \(hundredths(perEvent($0)))" } ?? "\(part.name) -"
    }
    return "µs an event: " + parts.joined(separator: "  ")
  }

  private var memory: String {
    let parts = memoryParts.map { part in
      part.bytes.map { "\(part.name) \(tenths(Double($0) / 1e6))" } ?? "\(part.name) -"
    }
    return "MB: " + parts.joined(separator: "  ")
  }

  private var verdictText: String {
    let counts = faults.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    if verdict.isClean {
      return "every event came "
        + (settings.subscribers == 0 ? "to the disk" : "once, whole, in order")
        + " (\(counts))"
    }
    return (code == .eventsUnaccounted ? "FAULTS: " : "gaps, as the live feed may have: ") + counts
  }

  private func milliseconds(_ value: Int64) -> String {
    "\((Double(value) / 1000).rounded() / 1000)"
  }
  private func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
  private func hundredths(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}
