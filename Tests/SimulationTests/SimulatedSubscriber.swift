import BusProtocol
import Primitives

@testable import BusBroker
@testable import BusClient

/// A subscriber's core and its program, which handles batches when it likes, commits some, and may crash.
struct SimulatedSubscriber {
  let name: String
  /// The one event name it wants; nil for all.
  let wanted: String?
  private(set) var core: SubscriberCore
  private var inbox: [EventBatch] = []
  /// What was handled, in all runs of the program, by offset.
  private(set) var handled: [UInt64: [UInt8]] = [:]
  /// How far it has handled: where its cursor may be.
  private(set) var handledTo = Position(epoch: 0, offset: 0)
  /// The same since the last seek of an operator, whose generation this is.
  private(set) var handledSinceSeek = Position(epoch: 0, offset: 0)
  private(set) var generation: UInt64 = 0
  /// What is handled now it took before it knew of the seek.
  private var awaitsSeek = false
  private var commits = CommitGuard()
  /// A batch that was handled and is committed later.
  private var held: EventBatch?
  /// Offsets that retention took before it came to them.
  private(set) var gaps: [Range<UInt64>] = []
  /// The last offset that this run handled.
  private var last: UInt64?
  private var run: UInt8 = 0
  /// What it was last told is in the cursor store.
  private var told: Position?
  private let bug: PlantedBug?

  init(name: String, wanted: String?, seed: UInt64, bug: PlantedBug? = nil) {
    self.bug = bug
    self.name = name
    self.wanted = wanted
    core = Self.core(name, wanted, run: 0, seed: seed)
  }

  private static func core(
    _ name: String, _ wanted: String?, run: UInt8, seed: UInt64
  ) -> SubscriberCore {
    SubscriberCore(
      .init(
        client: "simulation", name: Array(name.utf8),
        filters: wanted.map { [NameFilter(.exact, $0)] } ?? [],
        start: .cursor(otherwise: .earliest), seekGeneration: nil, reset: false, instance: [run],
        creditEvents: 10, creditBytes: 2000, stopsAtGap: false), seed: seed)
  }

  /// The program dies with all it has not handled, and starts again at its cursor.
  mutating func crash(seed: UInt64) {
    run &+= 1
    core = Self.core(name, wanted, run: run, seed: seed)
    inbox = []
    last = nil
    commits = CommitGuard()
    held = nil
    awaitsSeek = false
  }

  /// An operator has moved its cursor.
  mutating func sought(_ cursor: Position, generation: UInt64) {
    self.generation = generation
    handledSinceSeek = cursor
    awaitsSeek = true
  }

  /// The broker died with a seek that was not on its disk yet: it never was.
  mutating func lostSeek(generation: UInt64) {
    self.generation = generation
    handledSinceSeek = handledTo
    awaitsSeek = false
  }

  /// Whether its program never commits an earlier batch after a later one, which moves the cursor back.
  private var onlyGoesOn: Bool { wanted != nil }
  /// The cursor store must have this or a later one: no operator and no program has moved the cursor back.
  var committed: Position? { generation == 0 && onlyGoesOn ? told : nil }

  /// Whether it and the broker know of the same seeks, so that the next one can be told from the last.
  var knowsItsSeek: Bool { core.generation == generation && !awaitsSeek }

  mutating func receive(_ message: [UInt8], at now: Int64) {
    unsafe core.receive(message.span.bytes, at: now)
  }

  mutating func step(_ link: inout Link, at now: Int64, newPeer: () -> Peer) throws {
    _ = core.tick(at: now)
    core.grantCredit()
    for action in core.takeActions() {
      switch action {
      case .send(let bytes): link.sendUp(bytes)
      case .reconnect: link.replace(newPeer())
      case .deliver(let batch):
        inbox.append(batch)
        if bug == .commitsBeforeItHandles, !name.isEmpty { core.commit(batch.end) }
      case .failed(let error): throw SimulationFailure(description: "\(name): \(error)")
      case .notice(.gap(let gap)):
        // Only who has no name can be overtaken by retention.
        try require(name.isEmpty && gap.why == "retention", "\(name): \(gap)")
        gaps.append(gap.from.offset..<gap.to.offset)
      case .notice(.sought(let cursor, _)): jump(to: cursor)
      case .opened(let opened): if opened.seekGeneration >= generation { awaitsSeek = false }
      case .committed(let cursor): told = cursor
      case .head, .notice: break
      }
    }
  }

  /// As the shell does it: what waits lies before the jump, and is not handled any more.
  private mutating func jump(to cursor: Position) {
    for batch in inbox { core.take(events: batch.creditEvents, bytes: batch.messageBytes) }
    inbox = []
    commits.seek(to: cursor)
    last = nil
  }

  /// The program takes one batch, and commits it, or one that it took before, or none.
  mutating func handle(using random: inout SeededRandom) throws {
    guard !inbox.isEmpty else { return }
    let batch = inbox.removeFirst()
    let isSkipped = bug == .skipsBatches && Int.random(in: 0..<20, using: &random) == 0
    for event in batch.events where !isSkipped {
      try require(
        last.map { event.offset > $0 } ?? true,
        "'\(name)' got \(event.offset) after \(last ?? 0)")
      last = event.offset
      try require(
        handled[event.offset] ?? event.payload == event.payload,
        "'\(name)' got another event at \(event.offset)")
      handled[event.offset] = event.payload
    }
    handledTo = max(handledTo, batch.end)
    if !awaitsSeek { handledSinceSeek = max(handledSinceSeek, batch.end) }
    core.take(events: batch.creditEvents, bytes: batch.messageBytes)
    commits.took(through: batch.end)
    guard !name.isEmpty else { return }
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: commit(batch)
    case 2: held = batch
    case 3: if let held, !onlyGoesOn { commit(held) }
    default: break
    }
  }

  private mutating func commit(_ batch: EventBatch) {
    guard commits.allows(batch.end) || bug == .commitsAcrossSeeks else { return }
    core.commit(batch.end)
  }

  func isDone(at head: UInt64) -> Bool { inbox.isEmpty && handledTo.offset == head }
}
