import Aggregation
import BusProtocol
import Dashboard
import HTTPServer
import Primitives
import ServiceRuntime
import SinkState
import Synchronization

/// What happens just now, for pages that look on: once a second each gets a whole picture as a
/// Server-Sent Event. One thread makes it, once for all.
final class LiveFeed: Sendable {
  /// Names that a picture lists; all others are one number. Search finds them.
  static let names = 30

  private struct State {
    var rates = LiveRates()
    var names: [[UInt8]] = []
    var streams: [HTTPStream] = []
    var isStopping = false
  }

  private let aggregator: Aggregator
  /// Tells a page that the process, and with it the counts, began anew.
  private let start = SystemClock.realtime()
  private let state = Mutex(State())
  private let wake: WakeSignal
  private let thread = Mutex<OwnedThread?>(nil)

  init(_ aggregator: Aggregator) throws(SystemError) {
    self.aggregator = aggregator
    wake = try WakeSignal()
    let started = try OwnedThread(name: "eb-live") { self.run() }
    thread.withLock { $0 = started }
  }

  /// Ends the thread; the server ends the streams.
  func stop() {
    state.withLock { $0.isStopping = true }
    wake.signal()
    thread.withLock { $0.take() }?.join()
  }

  /// Answers with a stream whose first picture comes at once.
  func open(_ responder: HTTPResponder) {
    var head = HTTPResponse(contentType: "text/event-stream")
    head.headers = [
      HTTPRequest.Field("Cache-Control", "no-store"), HTTPRequest.Field("X-Accel-Buffering", "no"),
    ]
    guard let stream = responder.stream(head) else { return }
    stream.send(message())
    state.withLock { $0.streams.append(stream) }
  }

  /// The names that have a text in them, the busiest first.
  func rates(search: String, limit: Int) -> JSONText {
    let wanted = TextSearch(search)
    return state.withLock { state in
      let names = state.names
      let top = state.rates.top(limit) {
        wanted.matches(String(decoding: names[$0], as: UTF8.self))
      }
      return .object([.init("names", .list(top.map { Self.name($0, state) }))])
    }
  }

  private func run() {
    let second: Int64 = 1_000_000_000
    var due = SystemClock.monotonic()
    while true {
      let live = aggregator.live
      let streams = state.withLock { state in
        state.rates.take(live.counts, at: SystemClock.monotonic())
        state.names = live.names
        state.streams.removeAll { !$0.isOpen }
        return state.streams
      }
      if !streams.isEmpty {
        let message = message()
        for stream in streams { stream.send(message) }
      }
      // After a pause of the machine there is nothing to make up for.
      due = max(due + second, SystemClock.monotonic())
      while !state.withLock({ $0.isStopping }) {
        let left = due - SystemClock.monotonic()
        if left <= 0 { break }
        wake.wait(milliseconds: Int32(clamping: left / 1_000_000 + 1))
      }
      if state.withLock({ $0.isStopping }) { return }
    }
  }

  private func message() -> [UInt8] {
    Array("data: ".utf8) + picture.utf8 + Array("\n\n".utf8)
  }

  private var picture: JSONText {
    let status = aggregator.status
    let moment: [JSONText.Member] = [
      .init("time", .text(Timestamp.now().text)), .init("start", .integer(start)),
      .init("connected", .boolean(status.isConnected)), .init("ready", .boolean(status.isReady)),
      .init("trouble", .text(status.trouble)), .init("reportFile", .text(status.fileTrouble)),
      .init("cursor", Self.integer(status.progress?.cursor.offset ?? 0)),
      .init("lag", Self.integer(status.lag)),
      .init("applied", Self.integer(status.progress?.ledger.applied ?? 0)),
    ]
    return state.withLock { state in
      let top = state.rates.top(Self.names)
      let shown = top.reduce(0) { $0 + state.rates.rate(of: $1) }
      return .object(
        moment + [
          .init("rate", .double(state.rates.total)),
          .init("events", Self.integer(state.rates.events)),
          .init("history", .list(state.rates.history.map { .double($0.rounded()) })),
          .init("names", .list(top.map { Self.name($0, state) })),
          .init("nameCount", Self.integer(state.rates.nameCount)),
          .init("otherNames", Self.integer(state.rates.nameCount - top.count)),
          .init("otherRate", .double(max(0, state.rates.total - shown))),
        ])
    }
  }

  private static func name(_ number: Int, _ state: State) -> JSONText {
    .object([
      .init("name", .text(String(decoding: state.names[number], as: UTF8.self))),
      .init("rate", .double(state.rates.rate(of: number))),
      .init("events", integer(state.rates.events(of: number))),
    ])
  }

  private static func integer(_ value: some BinaryInteger) -> JSONText {
    .integer(Int64(clamping: value))
  }
}
