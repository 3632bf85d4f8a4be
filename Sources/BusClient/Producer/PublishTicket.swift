internal import Synchronization

/// Follows events that were published together until the last of them is settled.
final class PublishTicket: Sendable {
  private struct State {
    var left: Int
    var receipt = PublishReceipt()
  }

  private let state: Mutex<State>
  private let answer: @Sendable (PublishReceipt) -> Void

  /// One more than the events: the publisher takes that one away when it has let go of its lock, so
  /// that `answer` is never called under it.
  init(events: Int, answer: @escaping @Sendable (PublishReceipt) -> Void) {
    state = Mutex(State(left: events + 1))
    self.answer = answer
  }

  func publisherIsDone() { settle(1) { _ in } }
  func store(_ events: Int) { settle(events) { $0.acknowledged += events } }
  func lose(_ events: Int) { settle(events) { $0.lost += events } }

  func refuse(_ index: Int, code: String, text: String) {
    settle(1) { $0.refused.append(.init(index: index, code: code, text: text)) }
  }

  private func settle(_ events: Int, _ enter: (inout PublishReceipt) -> Void) {
    let done = state.withLock { state -> PublishReceipt? in
      enter(&state.receipt)
      state.left -= events
      return state.left == 0 ? state.receipt : nil
    }
    if let done { answer(done) }
  }
}

/// Which tickets the events of a batch belong to, in their order; empty when none has one.
struct TicketRuns: Sendable {
  struct Run: Sendable {
    var ticket: PublishTicket?
    /// Of its first event within the ticket.
    var first: Int
    var count: Int
  }

  private(set) var runs: [Run] = []
  /// Events that the runs stand for.
  private(set) var count = 0

  var isEmpty: Bool { runs.isEmpty }

  /// Notes the ticket of the event behind the `before` ones that the batch has.
  mutating func append(_ ticket: PublishTicket?, index: Int, before: Int) {
    if runs.isEmpty {
      guard ticket != nil else { return }
      if before > 0 { runs.append(Run(ticket: nil, first: 0, count: before)) }
      count = before
    }
    count += 1
    if let last = runs.last, last.ticket === ticket,
      ticket == nil || last.first + last.count == index
    {
      runs[runs.count - 1].count += 1
    } else {
      runs.append(Run(ticket: ticket, first: index, count: 1))
    }
  }

  /// The ticket of the event at a place in the batch, and which of its events that is.
  func ticket(at place: Int) -> (ticket: PublishTicket, index: Int)? {
    var start = 0
    for run in runs {
      if place < start + run.count {
        return run.ticket.map { ($0, run.first + place - start) }
      }
      start += run.count
    }
    return nil
  }

  mutating func removeAll() {
    runs.removeAll(keepingCapacity: true)
    count = 0
  }

  func store() { for run in runs { run.ticket?.store(run.count) } }
  func lose() { for run in runs { run.ticket?.lose(run.count) } }
}

/// An event of a ticket that will never be stored.
struct TicketRefusal: Sendable {
  var ticket: PublishTicket
  var index: Int
  var code: String
  var text: String
}

extension TicketRuns: Equatable {
  static func == (a: TicketRuns, b: TicketRuns) -> Bool {
    a.runs.elementsEqual(b.runs) {
      $0.ticket === $1.ticket && $0.first == $1.first && $0.count == $1.count
    }
  }
}

extension TicketRefusal: Equatable {
  static func == (a: TicketRefusal, b: TicketRefusal) -> Bool {
    a.ticket === b.ticket && a.index == b.index && a.code == b.code
  }
}
