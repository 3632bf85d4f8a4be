internal import BusClient
internal import BusProtocol
internal import Primitives

/// Gives a replay's events to its producer, at its rate.
struct ReplaySender {
  /// How often the state is written.
  private static let checkpointInterval: Int64 = 1_000_000_000

  let producer: Producer
  let steering: Replay.Steering
  var progress: ReplayProgress
  /// Behind the last event that was looked at.
  private(set) var next: Position
  private(set) var failure: BusClientError?
  private(set) var hasStopped = false
  /// Everything wanted was looked at.
  var reachedEnd = false
  private let start = SystemClock.monotonic()
  private var nextCheckpoint: Int64

  init(_ producer: Producer, _ steering: Replay.Steering, next: Position) {
    self.producer = producer
    self.steering = steering
    self.next = next
    progress = ReplayProgress(next: next)
    nextCheckpoint = start + Self.checkpointInterval
  }

  /// An event that is not sent.
  mutating func pass(_ position: Position?) {
    if let position { next = Self.behind(position) }
  }

  /// False when no more is to come.
  mutating func publish(
    _ event: ReplayReader, at position: Position, _ report: inout Replay.Report
  ) -> Bool {
    guard waitForTurn(), !steering.isCancelled() else { return stop() }
    guard let sequence = ReplaySequence.number(of: position) else {
      report.refused += 1
      steering.onRefused(position, "no sequence number has room for it")
      pass(position)
      return true
    }
    do throws(BusClientError) {
      try producer.publish(payload: event.payload, name: event.topic, sequence: sequence)
      next = Self.behind(position)
      progress.publish(next: next)
      steering.onProgress(progress.published)
      return true
    } catch .invalidEvent(let code, let text) {
      report.refused += 1
      steering.onRefused(position, "\(code.rawValue): \(text)")
      pass(position)
      return true
    } catch {
      failure = error
      return stop()
    }
  }

  private mutating func stop() -> Bool {
    hasStopped = true
    return false
  }

  /// Waits until the rate allows one more; false when the run is cancelled meanwhile.
  private func waitForTurn() -> Bool {
    guard let rate = steering.rate else { return true }
    let due = SteadyRate(rate, from: start).due(progress.published)
    while !steering.isCancelled() {
      let left = due - SystemClock.monotonic()
      guard left > 0 else { return true }
      steering.pause(Int32(max(1, min(100, left / 1_000_000))))
    }
    return false
  }

  var isDue: Bool { SystemClock.monotonic() >= nextCheckpoint }

  /// Where a next run would go on, were this one killed now.
  mutating func checkpoint() -> Position {
    nextCheckpoint = SystemClock.monotonic() + Self.checkpointInterval
    progress.acknowledge(producer.counters.acknowledged)
    return progress.next
  }

  private static func behind(_ position: Position) -> Position {
    Position(epoch: position.epoch, offset: position.offset + 1)
  }
}
