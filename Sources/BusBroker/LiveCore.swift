internal import BusProtocol

/// Who subscribes to what on the live feed, and which names must therefore be sent. Pure: the thread
/// that owns the XPUB socket asks it about every event.
struct LiveCore {
  /// Different topics that all peers together subscribe to; who asks for one more loses its connection.
  /// The same topic again, by whichever peer, is not counted: it costs libzmq one more pointer, while a
  /// new one costs up to 6 KB (random, of 200 bytes).
  static let maximumSubscriptions = 250_000

  private(set) var names: [[UInt8]] = []
  private var numbers: [[UInt8]: Int] = [:]
  private(set) var lastSequences: [UInt64] = []
  private(set) var head: UInt64 = 0
  /// How many peers subscribed to each topic: VERBOSER passes on every one, so they are counted.
  private var subscriptions: [[UInt8]: Int] = [:]
  private var prefixLengths: [Int: Int] = [:]
  /// By name number: whether somebody subscribes to a prefix of its topic.
  private(set) var isWanted: [Bool] = []

  /// Names whose head beacon is subscribed, and the ones that do not exist yet.
  private(set) var beacons: Set<[UInt8]> = []

  mutating func take(_ group: LiveGroup) {
    for name in group.newNames {
      numbers[name] = names.count
      names.append(name)
      lastSequences.append(0)
      isWanted.append(matches(name + [0]))
    }
    if !group.lastSequences.isEmpty { lastSequences = group.lastSequences }
    head = group.head
  }

  mutating func sent(_ name: Int, sequence: UInt64) { lastSequences[name] = sequence }

  /// What a subscription frame asks for.
  enum Change: Equatable {
    /// Send a beacon for this name at once: the sign "you are subscribed".
    case beacon(name: [UInt8])
    case none
    case tooMany
  }

  mutating func subscribe(_ topic: [UInt8]) -> Change {
    if subscriptions[topic] == nil, subscriptions.count >= Self.maximumSubscriptions {
      return .tooMany
    }
    subscriptions[topic, default: 0] += 1
    if subscriptions[topic] == 1 {
      prefixLengths[topic.count, default: 0] += 1
      reconsider(topic)
    }
    guard let name = beaconName(topic) else { return .none }
    beacons.insert(name)
    return .beacon(name: name)
  }

  mutating func unsubscribe(_ topic: [UInt8]) {
    guard let count = subscriptions[topic] else { return }
    if count > 1 {
      subscriptions[topic] = count - 1
      return
    }
    subscriptions[topic] = nil
    prefixLengths[topic.count]! -= 1
    if prefixLengths[topic.count] == 0 { prefixLengths[topic.count] = nil }
    reconsider(topic)
    if let name = beaconName(topic) { beacons.remove(name) }
  }

  /// The meta of a beacon for `name`: sequence 0 when it has no event yet.
  func beacon(_ name: [UInt8], epoch: UInt32, time: Int64) -> LiveMeta {
    LiveMeta(
      epoch: epoch, offset: head, sequence: numbers[name].map { lastSequences[$0] } ?? 0,
      time: time)
  }

  /// Only names that the topic is a prefix of can change.
  private mutating func reconsider(_ topic: [UInt8]) {
    if topic.last == 0 {
      // A topic with its NUL is the prefix of itself alone.
      if let number = numbers[Array(topic.dropLast())] { isWanted[number] = matches(topic) }
      return
    }
    for (number, name) in names.enumerated() where (name + [0]).starts(with: topic) {
      isWanted[number] = matches(name + [0])
    }
  }

  /// One look-up a length that some subscription has, at most 256.
  private func matches(_ topic: [UInt8]) -> Bool {
    prefixLengths.keys.contains { length in
      length <= topic.count && subscriptions[Array(topic.prefix(length))] != nil
    }
  }

  private func beaconName(_ topic: [UInt8]) -> [UInt8]? {
    let prefix = LiveMeta.beaconPrefix
    guard topic.count > prefix.count + 1, topic.last == 0, topic.starts(with: prefix) else {
      return nil
    }
    return Array(topic[prefix.count..<(topic.count - 1)])
  }
}
