import BusProtocol
import EventModel
import Primitives
import ServiceRuntime

/// One process of the pipeline as a person is told about it.
struct PipelineProcess {
  enum State: String {
    /// Does its work.
    case running
    /// Lives, but cannot do all of it; `detail` says why.
    case trouble
    /// Known, and not there now.
    case stopped
  }

  var name: String
  /// `broker`, `collector`, `archiver`, `aggregator`, `publisher`, `subscriber`.
  var role: String
  var state = State.running
  var detail = ""
  var cursor: UInt64?
  var lag: UInt64?
  var refused: UInt64?
  var dead: UInt64?
  /// The worst that was met last, also when all is well again.
  var lastError = ""

  var json: JSONText {
    .object([
      .init("name", .text(name)), .init("role", .text(role)), .init("state", .text(state.rawValue)),
      .init("detail", .text(detail)), .init("cursor", Self.integer(cursor)),
      .init("lag", Self.integer(lag)), .init("refused", Self.integer(refused)),
      .init("dead", Self.integer(dead)), .init("lastError", .text(lastError)),
    ])
  }

  mutating func fail(_ text: String) {
    guard !text.isEmpty else { return }
    if state == .running { state = .trouble }
    detail = detail.isEmpty ? text : detail
    lastError = text
  }

  private static func integer(_ value: UInt64?) -> JSONText {
    value.map { .integer(Int64(clamping: $0)) } ?? .null
  }
}

// What each says of itself, as a row.
extension PipelineProcess {
  init(broker status: ControlMap) {
    self.init(name: "broker", role: "broker")
    cursor = status.number("head")
    refused = StatusText.maps(status, "refused").reduce(0) { $0 + $1.number("count") }
    fail(status.text("trouble"))
    if let last = StatusText.maps(status, "refused").max(by: {
      $0.number("count") < $1.number("count")
    }),
      lastError.isEmpty
    {
      let sample = last.text("sample")
      lastError = last.text("reason") + (sample.isEmpty ? "" : ": \(sample)")
    }
  }

  init(consumer: ControlMap) {
    self.init(name: consumer.text("name"), role: "subscriber")
    take(consumer)
  }

  /// What the broker knows of a subscriber is newer than what it says of itself.
  mutating func take(_ consumer: ControlMap) {
    cursor = consumer.number("cursor")
    lag = consumer.number("lag")
    if consumer.flag("paused") { fail("paused") }
    let missed = consumer.number("missed")
    if missed > 0 {
      lastError = missed.counted("event was gone", "events were gone") + " before it read that far"
    }
    if !consumer.flag("connected"), state == .running {
      state = .stopped
      if detail.isEmpty { detail = "not connected" }
    }
  }

  /// From `/status` of a collector or an archiver.
  init(name: String, role: String, status: PropertyObject) {
    self.init(name: name, role: role)
    let ledger = status["ledger"]?.objectValue
    refused = Self.count(status["refused"]) ?? Self.count(ledger?["refused"])
    dead = Self.count(ledger?["dead"])
    lag = Self.count(status["lag"])
    if status["busConnected"]?.boolValue == false {
      fail(status["bus"]?.objectValue?["trouble"]?.stringValue ?? "")
      fail("the bus is not reached")
    }
    fail(status["trouble"]?.stringValue ?? "")
  }

  /// What an archiver has written to a file that is not whole yet is not behind; its cursor is.
  mutating func takeOpenPart(_ status: PropertyObject) {
    guard let open = Self.count(status["part"]?.objectValue?["events"]), open > 0 else { return }
    lag = lag.map { $0 > open ? $0 - open : 0 }
    if detail.isEmpty { detail = "\(open.counted("event")) in the open file" }
  }

  private static func count(_ value: PropertyValue?) -> UInt64? {
    value?.intValue.map { UInt64(clamping: $0) }
  }
}
