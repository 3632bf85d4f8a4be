import Database
import BusProtocol
import EventCodec
import Hashing
import Primitives
import SinkState
import TestSupport
import Testing

@testable import Aggregation

/// Reports over events given as lines, with a store of its own: what an aggregator does, without a bus.
final class Trial {
  let folder: TemporaryFolder
  private(set) var store: AggregatorStore
  private(set) var core: AggregatorCore
  let definitions: [ReportDefinition]
  private var reader = JSONEventReader()
  private(set) var offset: UInt64 = 0
  private let horizon: Int

  /// - Parameter reports: the definitions of a report file, without its frame.
  init(_ reports: String, horizon: Int = 100_000) throws {
    folder = try TemporaryFolder()
    let file = "{\"defaults\": false, \"reports\": [\(reports)]}"
    definitions = try ReportFile.parse(Array(file.utf8), path: "reports.json")
    self.horizon = horizon
    store = try AggregatorStore(folder.file(AggregatorStore.fileName))
    core = AggregatorCore(
      progress: SinkProgress(start: Position(epoch: 1, offset: 0)),
      doubles: Doubles(key: store.key, horizon: horizon), forgotten: ForgottenPeople(key: store.key)
    )
    core.setReports(try store.match(definitions).reports)
  }

  /// Journal time of the first event: later than all that happened in the samples.
  static let received = Timestamp(text: "2026-01-01T00:00:00Z")?.nanoseconds ?? 0

  func feed(_ lines: some Sequence<String>, received: Int64 = Trial.received) throws {
    for line in lines where !line.isEmpty {
      var payload: [UInt8] = []
      let topic = try unsafe reader.read(
        Array(line.utf8).span.bytes, received: received, into: &payload)
      try feed(payload, topic: topic, received: received)
    }
    try settle()
  }

  /// Counts what was fed.
  func settle() throws {
    try core.finish(from: store)
    core.progress.advance(to: Position(epoch: 1, offset: offset))
  }

  func feed(_ payload: [UInt8], topic: [UInt8], received: Int64 = Trial.received) throws {
    let place = AggregatorCore.EventPlace(
      position: Position(epoch: 1, offset: offset), time: received)
    try unsafe core.take(payload.span.bytes, name: topic.span.bytes, at: place, from: store)
    offset += 1
  }

  func feed(_ text: String) throws {
    try feed(text.split(separator: "\n").map(String.init))
  }

  /// - Parameter isFilling: as reports do that are on their way through the past.
  func commit(keepingBytes bytes: Int = 1 << 30, isFilling: Bool = false) throws {
    try settle()
    if isFilling { try store.commitFill(core, isDone: false) } else { try store.commit(core) }
    core.markSaved(keepingBytes: bytes)
  }

  /// As after the end of the process, however it ended: only what was committed is there.
  func restart() throws {
    store = try AggregatorStore(folder.file(AggregatorStore.fileName))
    core = try #require(try store.load(horizon))
    core.setReports(try store.match(definitions).reports)
    offset = core.progress.cursor.offset
  }

  /// Commits, and asks the file.
  func answer(
    _ name: String? = nil, _ question: ReportQuestion = ReportQuestion()
  ) throws -> JSONNode {
    try JSONDocumentParser.parse(Array(try json(name, question).utf8))
  }

  func json(
    _ name: String? = nil, _ question: ReportQuestion = ReportQuestion()
  ) throws -> String {
    String(decoding: try reportAnswer(name, question).json, as: UTF8.self)
  }

  func reportAnswer(
    _ name: String? = nil, _ question: ReportQuestion = ReportQuestion()
  ) throws -> ReportAnswer {
    try commit()
    let definition = try #require(definitions.first { $0.name == name ?? definitions[0].name })
    let reading = try ReportReading(store.database.path)
    return try #require(try reading.answer(definition, question))
  }

  /// As when the report file changes.
  func changeReports(_ change: ([StoredReport]) -> [StoredReport]) throws {
    try commit()
    core.setReports(change(try store.match(definitions).reports))
  }
}

extension JSONNode {
  /// A member by its key.
  subscript(_ key: String) -> JSONNode {
    if case .object(let members) = value, let member = members.first(where: { $0.key == key }) {
      return member.value
    }
    return JSONNode(value: .null, offset: -1)
  }

  subscript(_ index: Int) -> JSONNode {
    index < list.count ? list[index] : JSONNode(value: .null, offset: -1)
  }

  var list: [JSONNode] { if case .list(let nodes) = value { nodes } else { [] } }
  var number: Double? { if case .number(let number) = value { number } else { nil } }
  var text: String? { if case .text(let text) = value { text } else { nil } }
  var isTrue: Bool { if case .boolean(true) = value { true } else { false } }

  /// The group told apart by these values, as JSON.
  func group(_ by: String...) -> JSONNode {
    list.first { node in
      node["by"].list.map(\.plain) == by
    } ?? JSONNode(value: .null, offset: -1)
  }

  /// A scalar as a person reads it, with quotes for texts.
  var plain: String {
    switch value {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .number(let value): Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    case .text(let value): "\"\(value)\""
    case .list, .object: "..."
    }
  }

  /// Windows by their start, with a number of each total.
  func series(_ key: String) -> [String: Double] {
    var series: [String: Double] = [:]
    for window in self["windows"].list {
      let value = window["total"][key]
      series[window["start"].text ?? ""] = value.number ?? value["value"].number
    }
    return series
  }
}

/// Lines of events.
enum Line {
  static func track(
    _ event: String, _ user: String?, _ time: String, id: String? = nil, _ properties: String = "{}"
  ) -> String {
    let user = user.map { "\"userId\":\"\($0)\"," } ?? ""
    let id = id.map { "\"messageId\":\"\($0)\"," } ?? ""
    return "{\"type\":\"track\",\"event\":\"\(event)\",\(user)\(id)\"timestamp\":\"\(time)\","
      + "\"properties\":\(properties)}"
  }
}
