internal import BusProtocol
internal import EventModel

/// Who subscribes to what on the live feed, and which names must therefore be sent. Pure: the thread
/// that owns the XPUB socket asks it about every event.
struct LiveCore {
  /// Different topics that all peers together subscribe to, and their bytes: libzmq keeps a node of about
  /// 30 bytes for each byte of a topic that begins as no other does. Who asks for more loses its
  /// connection.
  static let maximumSubscriptions = 250_000
  static let maximumTopicBytes = 4 << 20
  /// Topics with the connections that subscribe to them: one more costs libzmq about 50 bytes.
  static let maximumHoldings = 1_000_000
  /// No name has a longer topic, so nothing could ever match.
  static let longestTopic = LiveMeta.beaconPrefix.count + EventName.maximumBytes + 1

  private(set) var names: [[UInt8]] = []
  private var numbers: [[UInt8]: Int] = [:]
  private(set) var lastSequences: [UInt64] = []
  private(set) var head: UInt64 = 0
  /// The connections that subscribe to each topic. As libzmq sees it: twice by one is once, and what a
  /// connection never subscribed to it cannot end for others.
  private var subscriptions: [[UInt8]: [UInt32]] = [:]
  private var topicBytes = 0
  private var holdings = 0
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
    /// Its connection must end.
    case tooMany, tooLong
  }

  mutating func subscribe(_ topic: [UInt8], by connection: UInt32) -> Change {
    guard topic.count <= Self.longestTopic else { return .tooLong }
    if let holders = subscriptions[topic] {
      if !holders.contains(connection) {
        guard holdings < Self.maximumHoldings else { return .tooMany }
        subscriptions[topic]?.append(connection)
        holdings += 1
      }
    } else {
      guard subscriptions.count < Self.maximumSubscriptions, holdings < Self.maximumHoldings,
        topicBytes + topic.count <= Self.maximumTopicBytes
      else { return .tooMany }
      subscriptions[topic] = [connection]
      topicBytes += topic.count
      holdings += 1
      prefixLengths[topic.count, default: 0] += 1
      reconsider(topic)
    }
    guard let name = beaconName(topic) else { return .none }
    beacons.insert(name)
    return .beacon(name: name)
  }

  mutating func unsubscribe(_ topic: [UInt8], by connection: UInt32) {
    guard let place = subscriptions[topic]?.firstIndex(of: connection) else { return }
    subscriptions[topic]?.remove(at: place)
    holdings -= 1
    if subscriptions[topic]?.isEmpty ?? false { forget(topic) }
  }

  /// Ends whatever these connections subscribed to; returns how many subscriptions that were.
  @discardableResult
  mutating func end(_ connections: Set<UInt32>) -> Int {
    guard !connections.isEmpty else { return 0 }
    let before = holdings
    for (topic, holders) in subscriptions where holders.contains(where: connections.contains) {
      let left = holders.filter { !connections.contains($0) }
      holdings -= holders.count - left.count
      subscriptions[topic] = left
      if left.isEmpty { forget(topic) }
    }
    return before - holdings
  }

  private mutating func forget(_ topic: [UInt8]) {
    subscriptions[topic] = nil
    topicBytes -= topic.count
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
