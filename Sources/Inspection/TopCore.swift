public import BusProtocol
internal import Primitives
internal import ServiceRuntime

/// The live screen of `top`: takes what the broker says, gives lines. Rates are of the last two answers.
public struct TopCore: Sendable {
  private let bus: String
  private var latest: Sample?
  private var before: Sample?

  private struct Sample {
    var status: ControlMap
    /// Monotonic nanoseconds.
    var time: Int64
  }

  public init(bus: String) { self.bus = bus }

  /// - Parameter time: monotonic, nanoseconds.
  public mutating func take(_ status: ControlMap, at time: Int64) {
    before = latest
    latest = Sample(status: status, time: time)
  }

  /// The whole screen: at most `rows` lines of at most `columns` columns. No control character passes,
  /// whatever a name holds.
  ///
  /// - Parameters:
  ///   - now: nanoseconds since 1970.
  ///   - note: what is wrong just now, such as a broker that does not answer.
  public func frame(rows: Int, columns: Int, now: Int64, note: String = "") -> [String] {
    var lines = ["eventbus top  \(bus)  \(Timestamp(nanoseconds: now).text)"]
    if !note.isEmpty { lines.append(note) }
    if let latest {
      lines += summary(latest.status)
      // What is left goes to subscribers first: there are few, and they are what one looks for.
      let left = max(0, rows - lines.count)
      let subscribers = limited(self.subscribers(latest.status), to: max(4, left / 3))
      let producers = limited(self.producers(latest.status), to: max(4, left / 5))
      let names = limited(
        self.names(latest.status, now), to: max(3, left - subscribers.count - producers.count))
      lines += names + subscribers + producers
    } else if note.isEmpty {
      lines.append("waiting for the broker")
    }
    return lines.prefix(max(0, rows)).map {
      TerminalText.truncate(TerminalText.escape($0), columns: max(1, columns))
    }
  }

  private func summary(_ status: ControlMap) -> [String] {
    let trouble = status.text("trouble")
    let counters: [(String, String)] = [
      ("in", "received"), ("stored", "stored"), ("twice", "duplicate"), ("refused", "refused"),
      ("out", "delivered"),
    ]
    let rates = counters.map { title, key in
      "\(title) \(text(rate { $0.map("ledger")?.number(key) ?? 0 }))"
    }
    return [
      "events/s  " + rates.joined(separator: "  "),
      "journal   \(status.number("earliest")) ..< \(status.number("head")), durable to "
        + "\(status.number("durable")), epoch \(status.number("epoch")), "
        + "\(status.number("journalBytes") >> 20) MiB, \(status.text("durability"))",
    ] + (trouble.isEmpty ? [] : ["REFUSED   \(trouble)"])
  }

  private func names(_ status: ControlMap, _ now: Int64) -> [String] {
    var rows: [(rate: Double?, events: UInt64, cells: [String])] = []
    let earlier = index(before?.status, "names", by: "name")
    for name in status.maps("names") {
      let events = name.number("events")
      let change = rate(events, earlier[Array(name.text("name").utf8)]?.number("events") ?? 0)
      let age = max(0, now - Int64(clamping: name.number("lastTime"))) / 1_000_000_000
      rows.append((change, events, [name.text("name"), text(change), "\(events)", "\(age) s ago"]))
    }
    rows.sort { ($0.rate ?? 0, $0.events) > ($1.rate ?? 0, $1.events) }
    var table = Table([
      .init("event"), .init("events/s", .right), .init("events", .right), .init("last", .right),
    ])
    for row in rows { table.append(row.cells) }
    return lines(table)
  }

  private func subscribers(_ status: ControlMap) -> [String] {
    let earlier = index(before?.status, "consumers", by: "name")
    var table = Table([
      .init("subscriber"), .init("events/s", .right), .init("lag", .right), .init("cursor", .right),
      .init("state"),
    ])
    for one in status.maps("consumers").sorted(by: { $0.number("lag") > $1.number("lag") }) {
      let cursor = one.number("cursor")
      let state =
        (one.flag("connected") ? "connected" : "away") + (one.flag("paused") ? ", paused" : "")
      let change = earlier[Array(one.text("name").utf8)].flatMap {
        rate(cursor, $0.number("cursor"))
      }
      table.append([one.text("name"), text(change), "\(one.number("lag"))", "\(cursor)", state])
    }
    return lines(table)
  }

  private func producers(_ status: ControlMap) -> [String] {
    var table = Table([
      .init("producer"), .init("events", .right), .init("bytes in flight", .right),
    ])
    for one in status.maps("producers").sorted(by: { $0.number("events") > $1.number("events") }) {
      table.append([
        one.text("client"), "\(one.number("events"))", "\(one.number("bytesInFlight"))",
      ])
    }
    return lines(table)
  }

  private func lines(_ table: Table) -> [String] {
    table.isEmpty ? [] : [""] + table.text.split(separator: "\n").map(String.init)
  }

  private func limited(_ lines: [String], to count: Int) -> [String] {
    guard lines.count > count else { return lines }
    return lines.prefix(count - 1) + ["and \(lines.count - count + 1) more"]
  }

  private func index(_ status: ControlMap?, _ list: String, by key: String) -> [[UInt8]: ControlMap]
  {
    var found: [[UInt8]: ControlMap] = [:]
    for one in status?.maps(list) ?? [] { found[Array(one.text(key).utf8)] = one }
    return found
  }

  private func rate(_ value: (ControlMap) -> UInt64) -> Double? {
    guard let latest, let before else { return nil }
    return rate(value(latest.status), value(before.status))
  }

  /// Nil before the second answer, and where a count went back: the broker began anew.
  private func rate(_ later: UInt64, _ earlier: UInt64) -> Double? {
    guard let latest, let before, later >= earlier, latest.time > before.time else { return nil }
    return Double(later - earlier) * 1e9 / Double(latest.time - before.time)
  }

  private func text(_ rate: Double?) -> String {
    guard let rate else { return "-" }
    return rate < 10 ? "\((rate * 10).rounded() / 10)" : "\(Int(rate.rounded()))"
  }
}

extension ControlMap {
  func maps(_ key: String) -> [ControlMap] {
    list(key).compactMap { if case .map(let map) = $0 { map } else { nil } }
  }

  func map(_ key: String) -> ControlMap? {
    if case .map(let map)? = self[key] { map } else { nil }
  }
}
