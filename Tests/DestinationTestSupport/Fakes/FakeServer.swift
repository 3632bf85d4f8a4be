internal import Foundation
public import Primitives
internal import Synchronization

/// A provider's rules: what it stores of a request and what it answers.
public protocol FakeProvider: Sendable {
  mutating func answer(
    _ request: StubRequest, at now: Timestamp, _ ledger: inout FakeLedger
  ) -> (answer: StubAnswer, events: Int)
}

/// A pretended provider on 127.0.0.1, and what it has taken so far.
///
/// Each request takes the next step of the script; the last one repeats.
public final class FakeServer<Provider: FakeProvider>: Sendable {
  private struct State {
    var provider: Provider
    var ledger = FakeLedger()
    var steps: [FaultStep]
    var taken = 0
    var random = SeededRandom(seed: 7)

    var step: FaultStep { steps[min(taken, steps.count - 1)] }
  }

  private final class Shared: Sendable {
    let state: Mutex<State>
    init(_ state: State) { self.state = Mutex(state) }
  }

  private let shared: Shared
  private let server: StubServer

  public init(
    _ provider: Provider, port: UInt16 = 0, script steps: [FaultStep] = [.serve]
  ) throws(SystemError) {
    precondition(!steps.isEmpty, "a script has a step")
    let shared = Shared(State(provider: provider, steps: steps))
    self.shared = shared
    server = try StubServer(
      port: port, interrupting: { _ in shared.state.withLock { Self.interruption(&$0) } },
      handler: { request in shared.state.withLock { Self.answer(request, &$0) } })
  }

  public var url: String { server.url }
  public var port: UInt16 { server.port }
  public var ledger: FakeLedger { shared.state.withLock { $0.ledger } }
  public var connections: Int { server.connections }
  public func stop() { server.stop() }

  /// From the next request on; what was taken stays.
  public func play(_ steps: [FaultStep]) {
    precondition(!steps.isEmpty, "a script has a step")
    shared.state.withLock {
      $0.steps = steps
      $0.taken = 0
    }
  }

  /// Something of the ledger without copying it all.
  public func ask<T: Sendable>(_ question: @Sendable (FakeLedger) -> T) -> T {
    shared.state.withLock { question($0.ledger) }
  }

  /// Changes the provider's rules; what was taken stays.
  public func change(_ body: @Sendable (inout Provider) -> Void) {
    shared.state.withLock { body(&$0.provider) }
  }

  private static func interruption(_ state: inout State) -> StubServer.Interruption? {
    guard case .interrupt(let interruption) = state.step else { return nil }
    state.taken += 1
    state.ledger.interrupted += 1
    return interruption
  }

  private static func answer(_ request: StubRequest, _ state: inout State) -> StubAnswer {
    let step = state.step
    state.taken += 1
    state.ledger.requests.append(request)
    if let refusal = step.refusal(request, now: Date()) { return refusal }
    let served = state.provider.answer(request, at: .now(), &state.ledger)
    return step.changed(served.answer, events: served.events, by: &state.random)
  }
}
