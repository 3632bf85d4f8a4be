internal import EventJournal
public import BusProtocol

/// The broker at one moment, for `status`, /status and /metrics: a copy, safe to keep.
public struct BrokerStatus: Sendable {
  public struct Name: Hashable, Sendable {
    public var name: [UInt8]
    /// Events since the journal's beginning: its last sequence.
    public var events: UInt64
    public var lastTime: Int64
  }

  public struct Refusal: Hashable, Sendable {
    public var port: String
    public var reason: String
    public var count: UInt64
    public var sample: String
  }

  /// Handshakes that failed, but for keys that were denied, which are refusals.
  public struct Handshakes: Hashable, Sendable {
    public var port: String
    /// As `ConnectionEvent.Failure` has it.
    public var reason: String
    public var count: UInt64
  }

  public struct Consumer: Hashable, Sendable {
    public var name: String
    public var lag: UInt64
    public var isConnected: Bool
    public var map: ControlMap
  }

  public var version = ""
  /// Where its journal is, from the root; empty where the system does not say.
  public var directory = ""
  public var durability = ""
  public var epoch: UInt32 = 0
  public var earliest: UInt64 = 0
  public var head: UInt64 = 0
  public var durableHead: UInt64 = 0
  public var journalBytes = 0
  public var segments = 0
  /// After how long a segment that all have read goes.
  public var retentionAge = Duration.zero
  public var bytesInFlight = 0
  public var producers = 0
  /// Sessions that read the journal, and those of them that have no name and so no cursor.
  public var subscribers = 0
  public var readers = 0
  public var names: [Name] = []
  /// All names, those that `names` leaves out included.
  public var nameCount = 0
  public var consumers: [Consumer] = []
  public var refusals: [Refusal] = []
  /// A row for each port and reason. `ended` is in the metrics alone: a client that looks whether an address
  /// can be used ends so too.
  public var handshakes: [Handshakes] = []
  public var producerMaps: [ControlMap] = []
  public var metrics = BrokerMetrics()
  /// Why new events are refused; empty when they are taken.
  public var trouble = ""
  public var liveDropEpisodes: UInt64 = 0
  /// Live subscriptions over the limit: each ended its connection.
  public var liveRefusedSubscriptions: UInt64 = 0

  public init() {}
}

extension BrokerStatus {
  /// Names shown in a status: the busiest. The rest is in the count.
  static let maximumNames = 1000

  /// The status as the fields of a REPLY.
  public var map: ControlMap {
    var map = ControlMap()
    map["version"] = .text(version)
    map["directory"] = .text(directory)
    map["durability"] = .text(durability)
    map["epoch"] = .number(UInt64(epoch))
    map["earliest"] = .number(earliest)
    map["head"] = .number(head)
    map["durable"] = .number(durableHead)
    map["journalBytes"] = .number(UInt64(journalBytes))
    map["segments"] = .number(UInt64(segments))
    map["retentionSeconds"] = .number(UInt64(max(0, retentionAge.components.seconds)))
    map["trouble"] = .text(trouble)
    map["ledger"] = .map(ledger)
    map["names"] = .list(
      names.map { name in
        var entry = ControlMap()
        entry["name"] = .text(String(decoding: name.name, as: UTF8.self))
        entry["events"] = .number(name.events)
        entry["lastTime"] = .number(UInt64(clamping: name.lastTime))
        return .map(entry)
      })
    map["nameCount"] = .number(UInt64(nameCount))
    map["producers"] = .list(producerMaps.map { .map($0) })
    map["subscribers"] = .number(UInt64(subscribers))
    map["readers"] = .number(UInt64(readers))
    map["consumers"] = .list(consumers.map { .map($0.map) })
    map["refused"] = .list(
      refusals.map { refusal in
        var entry = ControlMap()
        entry["port"] = .text(refusal.port)
        entry["reason"] = .text(refusal.reason)
        entry["count"] = .number(refusal.count)
        entry["sample"] = .text(refusal.sample)
        return .map(entry)
      })
    map["handshakes"] = .list(
      handshakes.filter { $0.count > 0 && $0.reason != "ended" }.map { failed in
        var entry = ControlMap()
        entry["port"] = .text(failed.port)
        entry["reason"] = .text(failed.reason)
        entry["count"] = .number(failed.count)
        return .map(entry)
      })
    return map
  }

  /// What came in, and what became of it.
  private var ledger: ControlMap {
    var map = ControlMap()
    for (key, value) in counters { map[key] = .number(value) }
    map["bytesInFlight"] = .number(UInt64(max(0, bytesInFlight)))
    return map
  }

  /// All counters under the names that they have in status and, in snake case, in metrics.
  public var counters: [(String, UInt64)] {
    [
      ("received", metrics.eventsReceived), ("stored", metrics.eventsStored),
      ("duplicate", metrics.eventsDuplicate), ("refused", metrics.eventsRefused),
      ("delivered", metrics.eventsDelivered), ("batches", metrics.batchesStored),
      ("storedBytes", metrics.bytesStored), ("groups", metrics.groupsWritten),
      ("deliveries", metrics.messagesDelivered), ("coldReads", metrics.coldReads),
      ("commits", metrics.commits), ("messages", metrics.messagesReceived),
      ("dropped", metrics.messagesDropped), ("peersLost", metrics.peersLost),
      ("sessionsExpired", metrics.sessionsExpired), ("sessionsFenced", metrics.sessionsFenced),
      ("unreadable", metrics.eventsUnreadable),
      ("diskFullEpisodes", metrics.diskFullEpisodes), ("liveDropEpisodes", liveDropEpisodes),
      ("liveRefusedSubscriptions", liveRefusedSubscriptions),
      ("liveSkippedEvents", metrics.eventsNotLive),
    ]
  }
}

/// What other threads have counted, as of the last second: whoever asks over the bus is told it too.
struct CountsElsewhere: Sendable {
  var liveDropEpisodes: UInt64 = 0
  var liveRefusedSubscriptions: UInt64 = 0
  var denied: [RefusalCounts.Key: RefusalCounts.Entry] = [:]
  var handshakes: [BrokerStatus.Handshakes] = []
}

extension BrokerStatus {
  /// Adds what other threads refused. A code and port has one row: metrics may not have a series twice.
  mutating func add(_ counts: [RefusalCounts.Key: RefusalCounts.Entry]) {
    for (key, entry) in counts {
      let (port, reason) = (key.port.rawValue, key.code.rawValue)
      if let at = refusals.firstIndex(where: { $0.port == port && $0.reason == reason }) {
        refusals[at].count += entry.count
        refusals[at].sample = entry.sample
        continue
      }
      refusals.append(
        .init(
          port: key.port.rawValue, reason: key.code.rawValue, count: entry.count,
          sample: entry.sample))
    }
  }
}

extension BrokerCore {
  func status(at now: Int64) -> BrokerStatus {
    var status = BrokerStatus()
    status.version = description.version
    status.directory = directory
    status.durability = description.durability
    status.epoch = journal.epoch
    status.earliest = retention.earliest
    status.head = journal.head
    status.durableHead = journal.durableHead
    status.journalBytes = retention.segments.reduce(0) { $0 + $1.byteCount }
    status.segments = retention.segments.count
    status.retentionAge = configuration.retentionAge
    status.bytesInFlight = bytesInFlight
    status.producers = producerSessions.count
    status.subscribers = subscriberSessions.count
    status.readers = subscriberSessions.count - tokenOfSubscriber.count
    status.metrics = metrics
    status.trouble = writeTrouble ?? retention.refusal ?? ""
    status.nameCount = names.count
    status.names = busiestNames()
    status.consumers = cursors.records.values
      .sorted { $0.name.lexicographicallyPrecedes($1.name) }
      .map { record in
        let head = journal.durableHead
        return BrokerStatus.Consumer(
          name: text(record.name), lag: head - min(head, record.cursor.offset),
          isConnected: tokenOfSubscriber[record.name] != nil, map: consumer(record, at: now))
      }
    status.refusals = refusals.entries
      .sorted {
        ($0.key.port.rawValue, $0.key.code.rawValue) < ($1.key.port.rawValue, $1.key.code.rawValue)
      }
      .map { key, entry in
        .init(
          port: key.port.rawValue, reason: key.code.rawValue, count: entry.count,
          sample: entry.sample)
      }
    status.producerMaps = producerSessions.values.prefix(1000).map { session in
      var map = ControlMap()
      map["client"] = .text(session.client)
      map["sequence"] = .number(session.durableSequence)
      map["events"] = .number(session.events)
      map["duplicates"] = .number(session.duplicates)
      map["bytesInFlight"] = .number(UInt64(max(0, session.bytesInFlight)))
      return map
    }
    status.liveDropEpisodes = elsewhere.liveDropEpisodes
    status.liveRefusedSubscriptions = elsewhere.liveRefusedSubscriptions
    status.add(elsewhere.denied)
    status.handshakes = elsewhere.handshakes
    return status
  }

  private func busiestNames() -> [BrokerStatus.Name] {
    let ids =
      names.count <= BrokerStatus.maximumNames
      ? Array(0..<names.count)
      : Array(
        (0..<names.count).sorted { names.lastSequence[$0] > names.lastSequence[$1] }
          .prefix(BrokerStatus.maximumNames))
    return ids.map {
      BrokerStatus.Name(
        name: names[$0], events: names.lastSequence[$0], lastTime: names.lastTime[$0])
    }
  }
}
