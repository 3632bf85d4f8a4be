import BusClient
import Primitives
import ServiceRuntime

/// What a `publish` did, and how it ends.
struct PublishOutcome {
  /// Lines or events looked at.
  var read: UInt64 = 0
  /// Refused here, before sending.
  var refusedHere: UInt64 = 0
  var published: UInt64 = 0
  var acknowledged: UInt64 = 0
  var refusedThere: UInt64 = 0
  var unacknowledged: UInt64 = 0
  var seconds = 0.0
  var durability = ""
  var failure: BusClientError?
  var wasReached = true

  var refused: UInt64 { refusedHere + refusedThere }
  var rate: Double { seconds > 0 ? Double(acknowledged) / seconds : 0 }

  mutating func add(_ result: FlushResult) {
    acknowledged += result.acknowledged
    refusedThere += result.refused
    unacknowledged += result.unacknowledged
    failure = failure ?? result.failure
  }

  /// Says it, and returns what to exit with.
  func report(_ settings: PublishSettings, _ context: Commands.Context) -> ExitCode {
    if settings.json {
      Terminal.output("\(JSONText.object(members))\n")
    } else {
      Terminal.error(text(context.arguments.text("bus") ?? ""))
    }
    return code(context.interruption.code)
  }

  func code(_ interrupted: ExitCode?) -> ExitCode {
    if let interrupted { return interrupted }
    if failure == .fenced { return .fenced }
    if case .denied? = failure { return .failed }
    if !wasReached { return .busUnreachable }
    if unacknowledged > 0 || failure != nil { return .eventsUnaccounted }
    return refused > 0 ? .someInputRefused : .done
  }

  var members: [JSONText.Member] {
    [
      .init("read", .integer(Int64(clamping: read))),
      .init("published", .integer(Int64(clamping: published))),
      .init("acknowledged", .integer(Int64(clamping: acknowledged))),
      .init("refused", .integer(Int64(clamping: refused))),
      .init("unacknowledged", .integer(Int64(clamping: unacknowledged))),
      .init("seconds", .double(seconds)), .init("rate", .double(rate)),
      .init("durability", .text(durability)),
    ]
  }

  private func text(_ address: String) -> String {
    if case .denied? = failure, let failure { return "eventbus publish: \(failure)" }
    if !wasReached {
      return
        "eventbus publish: no answer from \(address): \(unacknowledged.counted("event was", "events were")) not sent; "
        + BusHost.whySilent(address)
    }
    var parts = ["\(acknowledged.counted("event")) acknowledged (\(durability))"]
    if refused > 0 { parts.append("\(refused) refused") }
    if unacknowledged > 0 { parts.append("\(unacknowledged) NOT acknowledged") }
    var line = parts.joined(separator: ", ") + " in \(rounded(seconds, 2)) s"
    if acknowledged > 0 { line += ", \(Int(rate)) a second" }
    if let failure { line += "; stopped: \(failure)" }
    return line
  }

  private func rounded(_ value: Double, _ digits: Int) -> Double {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    return (value * scale).rounded() / scale
  }
}
