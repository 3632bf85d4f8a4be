internal import BusClient
internal import BusProtocol
internal import EventModel
internal import Primitives
internal import Synchronization
internal import TestSupport

/// A durable subscriber on a thread of its own that counts what it gets, and decodes it if it is typed.
final class Reader: Sendable {
  private let subscriber: Subscriber
  private let target = Atomic<Int>(.max)
  private let received = Atomic<Int>(0)
  private let thread = Mutex<OwnedThread?>(nil)

  /// - Parameters:
  ///   - only: the one name it wants; nil means all events.
  ///   - name: of its cursor, so that the broker keeps it; empty: none.
  init(_ address: String, typed: Bool, only: [UInt8]? = nil, name: String = "") throws {
    var configuration = SubscriberConfiguration(
      address: address, client: "benchmark", name: name)
    configuration.start = .earliest
    if let only {
      configuration.filters = [NameFilter(.exact, String(decoding: only, as: UTF8.self))]
    }
    subscriber = try Subscriber(configuration)
    guard try subscriber.waitUntilOpened(deadline: .seconds(10)) else {
      throw BenchmarkError(text: "no answer from \(address)")
    }
    let thread = try OwnedThread(name: "bench-reader") { [self] in read(typed: typed) }
    self.thread.withLock { $0 = thread }
  }

  private func read(typed: Bool) {
    var sum = 0
    var count = 0
    let deadline = SystemClock.monotonic() + 60_000_000_000
    while count < target.load(ordering: .relaxed), SystemClock.monotonic() < deadline {
      do throws(BusClientError) {
        guard let batch = try subscriber.nextBatch(deadline: .milliseconds(20)) else { continue }
        count += batch.count
        if typed {
          for event in batch.decode(as: EventType.GameEnded.self) {
            sum &+= event.event?.moveCount ?? 0
          }
        } else {
          batch.forEach { _, _, payload in sum &+= payload.byteCount }
        }
      } catch {
        report("reader: \(error)")
        break
      }
    }
    received.store(sum == 0 ? 0 : count, ordering: .relaxed)
    subscriber.close()
  }

  /// Lets it end once it has so many.
  func finish(at count: Int) { target.store(count, ordering: .relaxed) }

  func join() -> Int {
    thread.withLock { $0 }?.join()
    return received.load(ordering: .relaxed)
  }
}

/// A subscriber of the live feed.
final class LiveReader: Sendable {
  private let state = Mutex((received: 0, lost: 0, lastAt: Int64(0)))
  private let isStopped = Atomic<Bool>(false)
  private let thread = Mutex<OwnedThread?>(nil)

  init(_ address: String) throws {
    let ready = try WakeSignal()
    let thread = try OwnedThread(name: "bench-live") { [self] in
      do {
        var live = try LiveSubscriber(busAddress: address, names: [BenchmarkEvents.name(0)])
        while !isStopped.load(ordering: .relaxed) {
          guard let item = try live.next(deadline: .milliseconds(100)) else { continue }
          take(item, ready)
        }
      } catch {
        report("live: \(error)")
        ready.signal()
      }
    }
    ready.wait()
    self.thread.withLock { $0 = thread }
  }

  private func take(_ item: LiveItem, _ ready: WakeSignal) {
    switch item {
    case .ready: ready.signal()
    case .event:
      state.withLock { state in
        state.received += 1
        if state.received & 255 == 0 { state.lastAt = SystemClock.monotonic() }
      }
    case .lost(_, let from, let to, _, _):
      state.withLock { $0.lost += Int(to - from) }
    }
  }

  /// Waits until all is received or told to be lost.
  func join(expecting count: Int) -> (received: Int, lost: Int, end: Int64) {
    let deadline = SystemClock.monotonic() + 20_000_000_000
    while SystemClock.monotonic() < deadline {
      let (received, lost) = state.withLock { ($0.received, $0.lost) }
      if received + lost >= count { break }
      ProcessFiles.pause(milliseconds: 5)
    }
    isStopped.store(true, ordering: .relaxed)
    thread.withLock { $0 }?.join()
    return state.withLock { ($0.received, $0.lost, max($0.lastAt, 1)) }
  }
}
