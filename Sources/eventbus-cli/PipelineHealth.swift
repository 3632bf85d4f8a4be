import HTTPServer
import Primitives
import ServiceRuntime
import Synchronization

/// Answers `GET /api/health` from a thread of its own, which looks around only when somebody asks, and
/// once for all who ask meanwhile.
final class PipelineHealth: Sendable {
  /// Those who wait at a time; one more is told to come again.
  private static let mostWaiting = 64
  /// How old an answer may be.
  private static let age: Int64 = 1_000_000_000

  private struct State {
    var answer: [UInt8] = []
    var lookedAt = Int64.min
    var waiting: [HTTPResponder] = []
    var isStopping = false
  }

  private let state = Mutex(State())
  private let wake: WakeSignal
  private let thread = Mutex<OwnedThread?>(nil)

  /// - Parameter probe: made on the thread, which keeps it.
  init(_ probe: @escaping @Sendable () throws -> PipelineProbe) throws(SystemError) {
    wake = try WakeSignal()
    let started = try OwnedThread(name: "eb-health") { self.run(probe) }
    thread.withLock { $0 = started }
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    wake.signal()
    thread.withLock { $0.take() }?.join()
  }

  func answer(_ responder: HTTPResponder) {
    let now = SystemClock.monotonic()
    let answer: HTTPResponse? = state.withLock { state in
      if !state.answer.isEmpty, now - state.lookedAt < Self.age { return .json(state.answer) }
      guard state.waiting.count < Self.mostWaiting, !state.isStopping else { return Self.busy }
      state.waiting.append(responder)
      return nil
    }
    if let answer { responder.answer(answer) } else { wake.signal() }
  }

  private static let busy = HTTPResponse.text("ask again soon\n", status: 503)

  private func run(_ make: () throws -> PipelineProbe) {
    do {
      var probe = try make()
      while wait() {
        reply(.json(probe.look().utf8 + [UInt8(ascii: "\n")]), keeps: true)
      }
    } catch {
      let failure = JSONText.object([.init("error", .text("\(error)"))])
      while wait() { reply(.json(failure.utf8, status: 500), keeps: false) }
    }
    reply(Self.busy, keeps: false)
  }

  /// Until somebody asks; false when it is to end.
  private func wait() -> Bool {
    while true {
      let (isAsked, isStopping) = state.withLock { (!$0.waiting.isEmpty, $0.isStopping) }
      if isStopping { return false }
      if isAsked { return true }
      wake.wait()
      wake.clear()
    }
  }

  private func reply(_ answer: HTTPResponse, keeps: Bool) {
    let waiting = state.withLock { state in
      if keeps {
        state.answer = answer.body
        state.lookedAt = SystemClock.monotonic()
      }
      defer { state.waiting = [] }
      return state.waiting
    }
    for responder in waiting { responder.answer(answer) }
  }
}
