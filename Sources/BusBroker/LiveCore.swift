internal import BusProtocol
internal import EventModel

/// Who subscribes to what on the live feed, and which names must therefore be sent. Pure: the thread
/// that owns the XPUB socket asks it about every event.
struct LiveCore {
  /// What all peers together may subscribe to. When there is no room for one more, those that hold most lose
  /// their connections.
  struct Limits {
    /// Different topics, and their bytes: libzmq keeps a node of about 30 bytes for each byte of a topic that
    /// begins as no other does, and looks at each when a connection ends.
    var topics = 250_000
    var topicBytes = 2 << 20
    /// Topics with the connections that subscribe to them: one more costs libzmq about 50 bytes.
    var holdings = 1_000_000
  }

  /// No name has a longer topic, so nothing could ever match.
  static let longestTopic = LiveMeta.beaconPrefix.count + EventName.maximumBytes + 1

  private let limits: Limits
  private(set) var names: [[UInt8]] = []
  private var numbers: [[UInt8]: Int] = [:]
  private(set) var lastSequences: [UInt64] = []
  private(set) var head: UInt64 = 0
  /// The connections that subscribe to each topic. As libzmq sees it: twice by one is once, and what a
  /// connection never subscribed to it cannot end for others.
  private var subscriptions: [[UInt8]: [UInt32]] = [:]
  private var topicBytes = 0
  private var holdings = 0
  /// What each connection takes of these: bytes of its topics, and four for each.
  private var weights: [UInt32: Int] = [:]
  /// Connections that must end, and whose last subscriptions may still come.
  private var refused: Set<UInt32> = []
  private var prefixLengths: [Int: Int] = [:]
  /// By name number: whether somebody subscribes to a prefix of its topic.
  private(set) var isWanted: [Bool] = []

  /// Names whose head beacon is subscribed, and the ones that do not exist yet.
  private(set) var beacons: Set<[UInt8]> = []

  init(_ limits: Limits = Limits()) { self.limits = limits }

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
    case refused
  }

  /// - Returns: what to do for this one, and which other connections must end to make room for it.
  mutating func subscribe(_ topic: [UInt8], by connection: UInt32) -> (
    change: Change, ended: Set<UInt32>
  ) {
    guard topic.count <= Self.longestTopic, !refused.contains(connection) else {
      return (.refused, [])
    }
    var ended: Set<UInt32> = []
    if subscriptions[topic]?.contains(connection) != true {
      if !hasRoom(for: topic) { ended = makeRoom() }
      guard !refused.contains(connection), hasRoom(for: topic) else { return (.refused, ended) }
      hold(topic, connection)
    }
    guard let name = beaconName(topic) else { return (.none, ended) }
    beacons.insert(name)
    return (.beacon(name: name), ended)
  }

  private func hasRoom(for topic: [UInt8]) -> Bool {
    guard holdings < limits.holdings else { return false }
    return subscriptions[topic] != nil
      || subscriptions.count < limits.topics
        && topicBytes + topic.count <= limits.topicBytes
  }

  /// Ends who holds most, until an eighth of what all hold is free: so the walk over all is made seldom.
  private mutating func makeRoom() -> Set<UInt32> {
    var wanted = weights.values.reduce(0, +) / 8
    var largest: Set<UInt32> = []
    for (connection, weight) in weights.sorted(by: { $0.value > $1.value }) where wanted > 0 {
      largest.insert(connection)
      wanted -= weight
    }
    end(largest)
    refused.formUnion(largest)
    return largest
  }

  private mutating func hold(_ topic: [UInt8], _ connection: UInt32) {
    weights[connection, default: 0] += topic.count + 4
    holdings += 1
    guard subscriptions[topic] == nil else {
      subscriptions[topic]?.append(connection)
      return
    }
    subscriptions[topic] = [connection]
    topicBytes += topic.count
    prefixLengths[topic.count, default: 0] += 1
    reconsider(topic)
  }

  mutating func unsubscribe(_ topic: [UInt8], by connection: UInt32) {
    guard let place = subscriptions[topic]?.firstIndex(of: connection) else { return }
    subscriptions[topic]?.remove(at: place)
    weights[connection]? -= topic.count + 4
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
    for connection in connections { weights[connection] = nil }
    refused.subtract(connections)
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
