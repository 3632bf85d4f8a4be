/// What a subscriber found in the events themselves.
public struct SubscriberTally: Hashable, Sendable {
  /// By producer.
  public var sequences: [SequenceTally]
  /// Wrong length or checksum: not one of our events any more.
  public var corrupted: UInt64 = 0
  /// Whole, but of a producer that does not exist.
  public var invented: UInt64 = 0
  /// Of other load tests on the same bus.
  public var foreign: UInt64 = 0

  public init(producers: Int) {
    sequences = [SequenceTally](repeating: SequenceTally(), count: producers)
  }

  /// Counts an event; returns its intended time when it is to be measured.
  public mutating func take(_ reading: ProbeReader.Reading) -> Int64? {
    switch reading {
    case .foreign: foreign += 1
    case .corrupted: corrupted += 1
    case .event(let producer, let sequence, let intended, let isWarmUp):
      guard sequences.indices.contains(producer) else {
        invented += 1
        return nil
      }
      sequences[producer].take(sequence)
      return isWarmUp ? nil : intended
    }
    return nil
  }

  public var received: UInt64 { sequences.reduce(0) { $0 + $1.received } }
}

/// What became of a producer's events, as it knows it.
public struct ProducerTally: Hashable, Sendable {
  public var published: UInt64 = 0
  public var acknowledged: UInt64 = 0
  public var refused: UInt64 = 0
  /// Published and never answered for: they may be stored or not.
  public var unacknowledged: UInt64 { published - min(published, acknowledged + refused) }

  public init() {}
}

/// Whether every event came to every subscriber once, whole and in order; added up over the subscribers.
public struct Verdict: Hashable, Sendable {
  public var lost: UInt64 = 0
  public var duplicated: UInt64 = 0
  public var reordered: UInt64 = 0
  public var corrupted: UInt64 = 0
  /// Events that nobody published: a number beyond the last, or a producer that does not exist.
  public var invented: UInt64 = 0
  /// Refused and unanswered ones, once each.
  public var refused: UInt64 = 0
  public var unacknowledged: UInt64 = 0

  public init(_ producers: [ProducerTally], _ subscribers: [SubscriberTally]) {
    for producer in producers {
      refused += producer.refused
      unacknowledged += producer.unacknowledged
    }
    for subscriber in subscribers {
      corrupted += subscriber.corrupted
      invented += subscriber.invented
      for (index, tally) in subscriber.sequences.enumerated() {
        duplicated += tally.duplicated
        reordered += tally.reordered
        guard index < producers.count else { continue }
        let published = producers[index].published
        // An acknowledged event must come; what was refused, or not answered for, need not.
        lost +=
          tally.lost(of: published)
          - min(
            tally.lost(of: published), published - min(published, producers[index].acknowledged))
        invented += tally.next - min(tally.next, published)
      }
    }
  }

  /// Adds what another measurement found.
  public mutating func add(_ other: Verdict) {
    lost += other.lost
    duplicated += other.duplicated
    reordered += other.reordered
    corrupted += other.corrupted
    invented += other.invented
    refused += other.refused
    unacknowledged += other.unacknowledged
  }

  /// Each event once, whole and in order to each; none refused, none without an answer.
  public var isClean: Bool {
    lost + duplicated + reordered + corrupted + invented + refused + unacknowledged == 0
  }
}
