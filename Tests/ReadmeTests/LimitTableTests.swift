import BusBroker
import EventBus
import Testing

/// The table of limits says what the program does by default.
struct LimitTableTests {
  private static let limits = BusLimits()
  private static let broker = BrokerConfiguration(directory: "unused")
  private static let producer = ProducerConfiguration(address: "", client: "")
  private static let subscriber = SubscriberConfiguration(address: "", client: "")

  @Test(arguments: [
    ("event name", "\(limits.nameBytes) bytes"),
    ("event", "\(kibibytes(limits.eventBytes)) encoded"),
    ("nesting", "\(limits.depth) levels"),
    (
      "batch",
      "\(grouped(limits.batchEvents)) events, \(mebibytes(limits.batchBytes))"
        + " (one event of full size always fits)"
    ),
    (
      "producer's memory",
      "\(mebibytes(producer.maximumBytes)) and \(grouped(producer.maximumEvents)) events"
    ),
    ("producer's batches in flight", "\(producer.maximumInFlight)"),
    ("ingest not yet durable, all producers", mebibytes(broker.ingestBytes)),
    (
      "subscriber's credit",
      "\(mebibytes(subscriber.creditBytes)) and \(grouped(subscriber.creditEvents)) events"
    ),
    (
      "delivered and unread, all subscribers",
      "\(mebibytes(broker.outstandingBytes)), shared evenly"
    ),
    ("event names", grouped(broker.maximumNames)),
    (
      "producers known",
      "\(grouped(broker.maximumProducers)); forgotten after \(days(broker.producerIdle)) idle days"
    ),
    ("named subscribers; sessions without a name", "\(grouped(broker.maximumSubscribers)) each"),
  ])
  func `a limit in the table is the default`(_ row: (what: String, value: String)) throws {
    let lines = try Readme().lines
    #expect(lines.contains { $0.hasPrefix("| \(row.what) | \(row.value) |") })
  }

  private static func kibibytes(_ bytes: Int) -> String { "\(bytes >> 10) KiB" }
  private static func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
  private static func days(_ duration: Duration) -> Int64 { duration.components.seconds / 86400 }

  /// 1000000 is `1,000,000`.
  private static func grouped(_ number: Int) -> String {
    number < 1000
      ? "\(number)" : grouped(number / 1000) + "," + "\(1000 + number % 1000)".dropFirst()
  }
}
