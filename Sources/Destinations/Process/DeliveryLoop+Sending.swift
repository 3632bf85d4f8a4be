internal import BusClient
internal import BusProtocol
internal import Database
internal import HTTPClient
internal import Primitives

/// Requests under way.
struct DeliveryCalls {
  /// The last answer was none, or the destination's own failure: it may have moved.
  var hasFailed = false
  enum Purpose {
    case opening
    case events(request: UInt64, count: Int)
  }
  var purposes: [HTTPClient.CallID: Purpose] = [:]
}

/// Takes events in, sends requests, and gives the answers to the core.
extension DeliveryLoop {
  mutating func takeEvents(at now: Int64) {
    startFeeding()
    while core.hasRoom, let batch = feed.take(core.room) { core.take(batch, at: now) }
    takeLetters(at: now)
  }

  /// Dead letters that a person wants sent again, in their order, as there is room.
  private mutating func takeLetters(at now: Int64) {
    guard preparer != nil, now >= saving.nextLetters, core.hasRoom else { return }
    saving.nextLetters = now + 1_000_000_000
    do throws(DatabaseError) {
      let letters = try store.queuedLetters(from: saving.firstLetter, limit: 500)
      for letter in letters {
        saving.firstLetter = letter.id + 1
        guard !core.letters.contains(letter.id), let event = preparer?.prepare(letter) else {
          continue
        }
        core.take(letter: event, at: now)
      }
      if letters.isEmpty {
        // From the beginning again: one that was refused again may be queued again.
        saving.firstLetter = 0
      } else if letters.count == 500 {
        saving.nextLetters = now
      }
    } catch { storeFailed(error, at: now) }
  }

  mutating func perform(_ actions: [DeliveryAction]) {
    for action in actions {
      switch action {
      case .send(let request):
        var call = adapter.call(request.items, sentAt: Timestamp.now())
        call.wantsFreshConnection = calls.hasFailed
        calls.hasFailed = false
        // As it is now: a broker that was restarted has another.
        if configuration.marksRequests, let broker = subscriber.status.opened?.broker,
          let mark = BusMark.text(of: broker)
        {
          call.headers.append(HTTPHeader(BusMark.header, mark))
        }
        start(call, .events(request: request.id, count: request.items.count))
      case .open:
        if let call = adapter.opening(at: Timestamp.now()) { start(call, .opening) }
      case .cancel(let request):
        for (id, purpose) in calls.purposes {
          guard case .events(request, _) = purpose else { continue }
          client.cancel(id)
          calls.purposes[id] = nil
        }
      case .reloadLetters: saving.firstLetter = 0
      case .report(let report): self.report(report)
      }
    }
  }

  private mutating func start(_ call: HTTPCall, _ purpose: DeliveryCalls.Purpose) {
    do throws(HTTPFailure) {
      calls.purposes[try client.start(call)] = purpose
    } catch {
      failed(purpose, error, at: SystemClock.monotonic())
    }
  }

  mutating func finish(_ completion: HTTPCompletion, at now: Int64) {
    guard let purpose = calls.purposes.removeValue(forKey: completion.id) else { return }
    switch completion.result {
    case .success(let reply):
      if reply.status >= 500 { calls.hasFailed = true }
      answered(purpose, reply, at: now)
    case .failure(let failure):
      calls.hasFailed = true
      failed(purpose, failure, at: now)
    }
  }

  private mutating func answered(
    _ purpose: DeliveryCalls.Purpose, _ reply: HTTPReply, at now: Int64
  ) {
    let reason = DeliveryVerdict.reason(reply)
    switch purpose {
    case .opening:
      core.opened(adapter.opened(reply, at: Timestamp.now()), reason, at: now)
    case .events(let request, let count):
      let verdict = adapter.verdict(reply, count: count, at: Timestamp.now())
      let answer = DeliveryAnswer(
        status: reply.status, text: CleanText.snippet(reply.body, limit: 1000), reason: reason)
      core.finish(request, verdict, answer, at: now)
    }
  }

  private mutating func failed(
    _ purpose: DeliveryCalls.Purpose, _ failure: HTTPFailure, at now: Int64
  ) {
    let reason = CleanText.clean("\(failure)")
    let isUnreachable = [.resolve, .connect, .tls].contains(failure.kind)
    if failure.kind == .body, let head = failure.partial {
      return unreadable(purpose, head, reason, at: now)
    }
    switch purpose {
    case .opening where failure.kind == .request:
      core.opened(.configuration(reason), reason, at: now)
    case .opening: core.openingFailed(reason, at: now)
    case .events(let request, _) where failure.kind == .request:
      core.finish(request, .configuration(reason), DeliveryAnswer(reason: reason), at: now)
    case .events(let request, _):
      let isTaken =
        failure.partial.map {
          DeliveryVerdict.standard($0, at: Timestamp.now()) == .delivered
        } ?? false
      core.fail(request, reason, isUnreachable: isUnreachable, isTaken: isTaken, at: now)
    }
  }

  private mutating func unreadable(
    _ purpose: DeliveryCalls.Purpose, _ head: HTTPReply, _ reason: String, at now: Int64
  ) {
    let verdict = DeliveryVerdict.ofUnreadable(head, reason, at: Timestamp.now())
    switch (purpose, verdict) {
    // Nothing is sent twice by asking again, and what this answer says is needed.
    case (.opening, .deliveredUnproven): core.openingFailed(reason, at: now)
    case (.opening, _): core.opened(verdict, reason, at: now)
    case (.events(let request, _), _):
      core.finish(
        request, verdict, DeliveryAnswer(status: head.status, reason: reason), at: now)
    }
  }
}
