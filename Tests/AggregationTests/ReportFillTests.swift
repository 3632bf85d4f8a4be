import BusBroker
import BusClient
import BusProtocol
import Database
import EventCodec
import EventModel
import Primitives
import SinkState
import TestSupport
import Testing

@testable import Aggregation

/// New reports that count the past of a real broker's journal.
@Suite(.timeLimit(.minutes(2)))
struct ReportFillTests {
  private let folder: TemporaryFolder
  private let broker: Broker
  private let store: AggregatorStore
  private let configuration: AggregatorConfiguration
  private static let count: UInt64 = 3000

  init() throws {
    folder = try TemporaryFolder()
    var settings = BrokerConfiguration(directory: folder.file("journal"))
    settings.busAddress = "tcp://127.0.0.1:*"
    settings.liveAddress = "tcp://127.0.0.1:*"
    settings.publishAddress = "tcp://127.0.0.1:*"
    settings.pushAddress = "tcp://127.0.0.1:*"
    broker = try Broker(settings)
    store = try AggregatorStore(folder.file(AggregatorStore.fileName))
    configuration = AggregatorConfiguration(
      bus: broker.addresses.bus, directory: folder.file("aggregator"))
    var producing = ProducerConfiguration(address: broker.addresses.bus, client: "test")
    producing.batchEvents = 100
    let producer = try Producer(producing)
    // A message of the journal's past holds half a MiB, so there are several.
    let padding = PropertyValue.string(String(repeating: "x", count: 1000))
    for number in 0..<Self.count {
      let event = AnalyticsEvent(
        "Past", properties: ["number": .int(Int64(number)), "padding": padding])
      try producer.publish(event)
    }
    #expect(producer.closeBlocking().isComplete)
  }

  /// A fill of one report, and the place in the journal behind so many events.
  private func fill() throws -> (ReportFill, ReportDefinition) {
    let file =
      #"{"defaults": false, "reports": [{"name": "new", "window": "all", "fill": true, "#
      + #""measures": ["count", {"max": "properties.number"}]}]}"#
    let definition = try ReportFile.parse(Array(file.utf8), path: "reports.json")[0]
    let (stored, new) = try store.match([definition], marksFilling: true)
    #expect(new == ["new"])
    let fill = try ReportFill(
      stored, configuration, store, forgotten: ForgottenPeople(key: store.key))
    return (fill, definition)
  }

  private func position(_ offset: UInt64) -> Position {
    Position(epoch: broker.status.epoch, offset: offset)
  }

  @Test func `it counts one batch at a time, so that the live events get their turn`() throws {
    let (fill, definition) = try fill()
    var turns = 0
    while try !fill.advance(to: position(Self.count), wait: .seconds(10)) {
      let end = fill.end
      // What is on its way answers nothing yet.
      #expect(try ReportQuery.answer(definition, in: store.database.path) == nil)
      turns += 1
      // A message holds about 512 KiB of the 3 MB.
      #expect(end.offset <= UInt64(turns) * 1000, "turn \(turns): \(end)")
    }
    #expect(turns >= 3)
    try fill.finish(at: position(Self.count))
    let answer = try #require(try ReportQuery.answer(definition, in: store.database.path))
    #expect(answer.counters.matched == Self.count)
  }

  @Test func `it never counts what is not counted live yet, and ends just where that is`() throws {
    let (fill, definition) = try fill()
    // The live counting is slow, and stands in the middle of a batch each time.
    var cursor: UInt64 = 1
    while true {
      let isThrough = try fill.advance(to: position(cursor), wait: .seconds(10))
      #expect(fill.end.offset <= cursor)
      if cursor >= 2321 && isThrough { break }
      if isThrough { cursor = min(2321, cursor + 700) }
    }
    try fill.finish(at: position(cursor))
    let answer = try #require(try ReportQuery.answer(definition, in: store.database.path))
    #expect(answer.counters.matched == 2321)
    let json = try JSONDocumentParser.parse(answer.json)
    #expect(json["total"]["max properties.number"]["value"].number == 2320)
  }
}
