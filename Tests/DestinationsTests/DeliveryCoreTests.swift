import BusProtocol
import Hashing
import Primitives
import SinkState
import Testing

@testable import Destinations

/// What the core decides, by tables: when a request is made, with which events, and what answers mean.
struct DeliveryCoreTests {
  @Test func `requests are cut by count and by exact bytes`() {
    var trial = CoreTrial(events: 3)
    trial.feed([1, 1, 1, 1, 1])
    #expect(trial.request(.delivered) == [0, 1, 2])
    #expect(trial.request(.delivered) == [3, 4])
    // 10 of head, 3 x 30 of items, 2 of separators: just 102.
    for (bytes, count) in [(102, 3), (101, 2)] {
      var trial = CoreTrial(requestBytes: bytes)
      trial.feed([1, 1, 1, 1], bytes: 30)
      #expect(trial.request()?.count == count)
    }
  }

  @Test func `one request is under way at a time, and with lanes one for each`() {
    var trial = CoreTrial(events: 2)
    trial.feed([0, 1, 2, 3, 0, 1, 2, 3])
    #expect(trial.requests().count == 1)
    #expect(trial.requests().isEmpty)
    var lanes = CoreTrial({ $0.concurrency = 4 }, events: 2)
    lanes.feed([0, 1, 2, 3, 0, 1, 2, 3])
    #expect(lanes.requests().map(\.events) == [[0, 4], [1, 5], [2, 6], [3, 7]])
  }

  @Test func `events wait for each other as long as the linger, no longer`() {
    var trial = CoreTrial({ $0.linger = .milliseconds(50) }, events: 3)
    trial.feed([1])
    #expect(trial.request() == nil)
    #expect(trial.wait() == 50_000_000)
    trial.feed([1])
    #expect(trial.request() == [0, 1])
    var full = CoreTrial({ $0.linger = .seconds(50) }, events: 3)
    full.feed([1, 1, 1])
    #expect(full.request() == [0, 1, 2])
  }

  @Test func `the cursor passes no event that is not settled`() {
    var trial = CoreTrial(events: 2)
    trial.feed([1, 1])
    trial.feed([2], settled: .skipped)
    trial.feed([3])
    #expect(trial.settlement() == nil)
    #expect(trial.request(.delivered) == [0, 1])
    let first = trial.settlement()?.progress
    #expect(first?.cursor.offset == 3)
    #expect(first?.ledger.applied == 2)
    #expect(first?.ledger.notMatched == 1)
    #expect(trial.request(.delivered) == [3])
    #expect(trial.settlement()?.progress?.cursor.offset == 4)
    #expect(trial.settlement() == nil)
  }

  @Test func `a failure makes the same request again, later each time`() {
    var trial = CoreTrial({ $0.suspectTries = 100 }, events: 2)
    trial.feed([1, 2, 3])
    var last: Int64 = 0
    for _ in 0..<12 {
      #expect(trial.request(.retry("down")) == [0, 1])
      #expect(trial.request() == nil)
      let wait = trial.wait()
      #expect(wait >= min(last, 150 * CoreTrial.second))
      #expect(wait <= 300 * CoreTrial.second)
      last = wait
    }
    #expect(last >= 150 * CoreTrial.second)
    #expect(trial.core.state(at: trial.now).word == "backing-off")
    #expect(trial.request(.delivered) == [0, 1])
    #expect(trial.core.state(at: trial.now) == .delivering)
    #expect(trial.request(.retry("down")) == [2])
    #expect(trial.wait() <= CoreTrial.second)
  }

  @Test func `a success that cannot be read is a delivery, counted apart and told once`() {
    var trial = CoreTrial(events: 2)
    trial.feed([1, 2, 3])
    #expect(trial.request(.deliveredUnproven("HTTP 200, but")) == [0, 1])
    #expect(trial.request(.deliveredUnproven("HTTP 200, but")) == [2])
    #expect(trial.request() == nil)
    #expect(trial.settlement()?.progress?.ledger.applied == 3)
    #expect(trial.core.counts.delivered == 3 && trial.core.counts.unproven == 3)
    #expect(trial.core.lastError?.text == "HTTP 200, but")
    #expect(trial.reports == [.unproven("HTTP 200, but")])
  }

  @Test(arguments: [(true, 3), (false, 12)])
  func `a success that breaks off is tried thrice, another answer without end`(
    _ isTaken: Bool, _ tries: Int
  ) {
    var trial = CoreTrial({ $0.suspectTries = 100 })
    trial.feed([1, 2])
    var made = 0
    while made < 12, let request = trial.requests().first {
      #expect(request.events == [0, 1])
      made += 1
      trial.core.fail(request.id, "half", isUnreachable: false, isTaken: isTaken, at: trial.now)
      if trial.core.waitingEvents > 0 { _ = trial.wait() }
    }
    #expect(made == tries)
    #expect(trial.core.counts.unproven == (isTaken ? 2 : 0))
  }

  @Test func `a pause holds all lanes, and ends with one request`() {
    var trial = CoreTrial({ $0.concurrency = 2 }, events: 1)
    trial.feed([0, 1, 2, 3])
    let both = trial.requests()
    #expect(both.count == 2)
    trial.core.finish(both[0].id, .pause(.seconds(7), "busy"), .init(reason: "x"), at: 0)
    // What was under way beside it says nothing about the time after.
    trial.core.finish(both[1].id, .delivered, .init(reason: "x"), at: 1)
    #expect(trial.requests().isEmpty)
    #expect(trial.core.state(at: 1).word == "paused")
    #expect(trial.wait() == 7 * CoreTrial.second)
    let probe = trial.requests()
    #expect(probe.map(\.events) == [[0]])
    trial.core.finish(probe[0].id, .delivered, .init(reason: "x"), at: trial.now)
    #expect(trial.requests().count == 2)
  }

  @Test func `a pause of no length is no busy loop`() {
    var trial = CoreTrial()
    trial.feed([1])
    var tries = 0
    while trial.now < 60 * CoreTrial.second {
      #expect(trial.request(.pause(.zero, "now")) == [0])
      tries += 1
      _ = trial.wait()
    }
    #expect(tries < 75)
  }

  @Test func `a wrong configuration keeps the events and asks every few minutes`() {
    var trial = CoreTrial()
    trial.feed([1, 2])
    #expect(trial.request(.configuration("HTTP 401")) == [0, 1])
    #expect(trial.core.state(at: 0).word == "configuration-error")
    #expect(trial.wait() >= 180 * CoreTrial.second)
    #expect(trial.request(.configuration("HTTP 401")) == [0, 1])
    #expect(trial.settlement() == nil)
    _ = trial.wait()
    #expect(trial.request(.delivered) == [0, 1])
    #expect(trial.cursor == 0)
    #expect(trial.settlement()?.progress?.cursor.offset == 2)
  }

  @Test(arguments: [(100, 1, 130), (100, 2, 170), (100, 10, 130)])
  func `many bad events take about two requests an event at most`(
    count: UInt64, every: UInt64, most: Int
  ) {
    var trial = CoreTrial()
    trial.feed(Array(0..<count))
    var requests = 0
    while let request = trial.requests().first {
      requests += 1
      let isBad = request.events.contains { $0 % every == 0 }
      trial.core.finish(
        request.id, isBad ? .split("bad") : .delivered, .init(status: 400, reason: "bad"), at: 0)
    }
    #expect(requests <= most)
    let settlement = trial.settlement()
    #expect(settlement?.letters.count == Int(count / every))
  }

  @Test func `a refused request is halved until the bad event is alone`() {
    var trial = CoreTrial()
    trial.feed([UInt64](repeating: 1, count: 64))
    var requests = 0
    while let events = trial.requests().first {
      requests += 1
      let verdict: DeliveryVerdict = events.events.contains(37) ? .split("bad") : .delivered
      trial.core.finish(events.id, verdict, .init(status: 400, reason: "bad"), at: 0)
    }
    #expect(requests <= 12)
    let settlement = trial.settlement()
    #expect(settlement?.letters.map { $0.event.source.position?.offset } == [37])
    #expect(settlement?.letters.first?.refusal.status == 400)
    #expect(settlement?.progress?.ledger.applied == 63)
    #expect(settlement?.progress?.ledger.dead == 1)
  }

  @Test func `a request that was too long makes later ones shorter`() {
    var trial = CoreTrial(requestBytes: 1000)
    trial.feed([UInt64](repeating: 1, count: 80), bytes: 30)
    var refusals = 0
    while let request = trial.requests().first {
      let bytes = 10 + request.events.count * 31 - 1
      refusals += bytes > 300 ? 1 : 0
      let verdict: DeliveryVerdict = bytes > 300 ? .tooLarge("413") : .delivered
      trial.core.finish(request.id, verdict, .init(status: 413, reason: "413"), at: 0)
    }
    #expect(refusals == 2)
    #expect(trial.settlement()?.progress?.ledger.applied == 80)
  }

  @Test func `a partial answer makes dead letters of the listed alone`() {
    var trial = CoreTrial()
    trial.feed([1, 2, 3])
    #expect(trial.request(.partial(refused: [1: "bad", 7: "no such"])) == [0, 1, 2])
    let partial = trial.settlement()
    #expect(partial?.letters.map(\.refusal.reason) == ["bad"])
    #expect(partial?.progress?.ledger.applied == 2)
    trial.feed([1, 2, 3])
    #expect(trial.request(.refusedOnly(these: [0: "bad"])) == [3, 4, 5])
    #expect(trial.request(.delivered) == [4, 5])
    #expect(trial.settlement()?.letters.count == 1)
  }

  @Test func `a user who has to wait is passed by, with all that is theirs`() {
    var trial = CoreTrial(events: 4)
    trial.feed([1, 2, 1, 3, 2, 1, 3])
    #expect(trial.request(.hold(items: [0], for: .seconds(30), "quota")) == [0, 1, 2, 3])
    #expect(trial.request(.delivered) == [1, 3])
    #expect(trial.request(.delivered) == [4, 6])
    #expect(trial.core.heldUsers == 1)
    #expect(trial.settlement() == nil)
    #expect(trial.wait() == 30 * CoreTrial.second)
    #expect(trial.request(.delivered) == [0, 2, 5])
    #expect(trial.settlement()?.progress?.cursor.offset == 7)
  }

  @Test func `nothing is sent faster than allowed`() {
    var trial = CoreTrial({ $0.eventsPerSecond = 100 }, events: 10)
    trial.feed([UInt64](repeating: 1, count: 100))
    while trial.core.waitingEvents > 0 {
      _ = trial.request(.delivered)
      if trial.core.waitingEvents > 0 { _ = trial.wait() }
    }
    #expect(trial.now == 900_000_000)
  }

  @Test func `a full backlog wants no more until something is settled`() {
    var trial = CoreTrial({ $0.waitingEvents = 10 })
    trial.feed([UInt64](repeating: 1, count: 10))
    #expect(!trial.core.hasRoom)
    #expect(trial.request(.delivered)?.count == 10)
    _ = trial.settlement()
    #expect(trial.core.hasRoom)
    var bytes = CoreTrial({ $0.waitingBytes = 2000 })
    bytes.feed([1, 1], bytes: 900)
    #expect(!bytes.core.hasRoom)
  }

  @Test func `an operator's seek drops what waits and counts what is passed`() {
    var trial = CoreTrial(events: 2)
    trial.feed([1, 1, 1, 1])
    let first = trial.requests()
    trial.core.finish(first[0].id, .delivered, .init(reason: "x"), at: 0)
    let second = trial.requests()
    var batch = FeedBatch(
      entries: [.event(CoreTrial.event(100, user: 1))], end: Position(epoch: 1, offset: 101))
    batch.seek = (Position(epoch: 1, offset: 100), 3)
    trial.core.take(batch, at: 0)
    #expect(trial.requests().map(\.events) == [[100]])
    #expect(trial.cancelled == [second[0].id])
    let settlement = trial.settlement()
    #expect(settlement?.progress?.seekGeneration == 3)
    #expect(settlement?.progress?.cursor.offset == 100)
    #expect(settlement?.progress?.ledger.applied == 2)
    #expect(settlement?.progress?.ledger.skipped == 98)
  }

  @Test func `events of a forgotten person are not sent any more, and later ones are`() throws {
    var trial = CoreTrial(events: 2)
    func entry(_ offset: UInt64, _ user: String) -> FeedBatch.Entry {
      var event = CoreTrial.event(offset, user: 1)
      event.payload = DeliveryStoreTests.payload(user: user)
      return .event(event)
    }
    let person = try #require(PersonHash.hash("ada", by: DeliverySimulation.key))
    let place = Position(epoch: 1, offset: 4)
    let mark = ForgetMark([.init(person: person, place: place, time: 0)], at: place)
    trial.core.take(
      FeedBatch(
        entries: [entry(0, "ada"), entry(1, "bob"), entry(2, "ada"), entry(3, "bob")],
        end: Position(epoch: 1, offset: 4)), at: 0)
    let first = trial.requests()
    #expect(first.map(\.events) == [[0, 1]])
    trial.core.take(
      FeedBatch(
        entries: [.forget(mark), entry(5, "ada")], end: Position(epoch: 1, offset: 6)), at: 0)
    // Known on the disk before anything more is sent.
    #expect(trial.settlement()?.forgets == [mark])
    trial.core.finish(first[0].id, .retry("down"), .init(status: 500, reason: "down"), at: 0)
    _ = trial.wait()
    #expect(trial.request(.delivered) == [1])
    #expect(trial.request(.delivered) == [3, 5])
    let ledger = trial.settlement()?.progress?.ledger
    #expect(ledger?.forgotten == 2)
    #expect(ledger?.applied == 4)
    #expect(ledger?.isBalanced(at: Position(epoch: 1, offset: 6)) == true)
  }

  @Test func `what is gone from the bus is counted as missing`() {
    var trial = CoreTrial()
    var batch = FeedBatch(
      entries: [.event(CoreTrial.event(50, user: 1))], end: Position(epoch: 1, offset: 51))
    batch.gap = Position(epoch: 1, offset: 50)
    trial.core.take(batch, at: 0)
    _ = trial.request(.delivered)
    let ledger = trial.settlement()?.progress?.ledger
    #expect(ledger?.missing == 50)
    #expect(ledger?.applied == 1)
  }

  @Test func `told to stop it starts nothing and lets what is under way end`() {
    var trial = CoreTrial(events: 1)
    trial.feed([1, 1])
    let request = trial.requests()
    trial.core.stop()
    #expect(trial.core.requestCount == 1)
    trial.core.finish(request[0].id, .delivered, .init(reason: "x"), at: 0)
    #expect(trial.requests().isEmpty)
    #expect(trial.core.requestCount == 0)
    #expect(trial.settlement()?.progress?.cursor.offset == 1)
  }

  @Test func `before the destination is opened nothing is sent`() {
    var trial = CoreTrial(needsOpening: true)
    trial.feed([1])
    #expect(trial.requests().isEmpty)
    #expect(trial.core.state(at: 0) == .opening)
    trial.core.opened(.configuration("HTTP 401"), "HTTP 401", at: 0)
    #expect(trial.core.state(at: 0).word == "configuration-error")
    #expect(trial.wait() >= 180 * CoreTrial.second)
    #expect(trial.requests().isEmpty)
    trial.core.opened(.delivered, "", at: trial.now)
    #expect(trial.request(.delivered) == [0])
  }

  @Test func `a dead letter is taken once, and leaves when it is delivered`() {
    var trial = CoreTrial()
    trial.feed([1])
    #expect(trial.request(.split("bad")) == [0])
    #expect(trial.settlement()?.progress?.ledger.dead == 1)
    let letter = CoreTrial.event(0, user: 1, letter: 8)
    trial.core.take(letter: letter, at: 0)
    trial.core.take(letter: letter, at: 0)
    #expect(trial.request(.delivered) == [0])
    let settlement = trial.settlement()
    #expect(settlement?.redriven.map(\.letter) == [8])
    #expect(settlement?.redriven.map(\.outcome) == [.delivered])
    #expect(settlement?.progress?.ledger.dead == 0)
    #expect(settlement?.progress?.ledger.applied == 1)
    #expect(settlement?.progress?.cursor.offset == 1)
  }

  @Test func `a dead letter of before the ledger began leaves it as it is`() {
    var trial = CoreTrial()
    // As after a damaged file: its letters were taken over, its ledger begins anew.
    trial.core.take(letter: CoreTrial.event(0, user: 1, letter: 8), at: 0)
    #expect(trial.request(.delivered) == [0])
    #expect(trial.settlement()?.progress?.ledger.accounted == 0)
    trial.feed([1])
    #expect(trial.request(.split("bad")) == [0])
    let progress = trial.settlement()?.progress
    #expect(progress?.ledger.dead == 1)
    #expect(progress.map { $0.ledger.isBalanced(at: $0.cursor) } == true)
  }
}
