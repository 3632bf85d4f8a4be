internal import EventCodec
internal import Primitives

/// What a cell says about each measure of its report.
struct MeasureAnswer {
  /// Joins ids to persons, for `people`.
  let people: PeopleJoin?
  private let columns: [Column]

  /// What a measure is, what answers call it, and its place in the cells.
  private final class Column: Sendable {
    let measure: ReportDefinition.Measure
    let label: String
    let place: Int

    init(_ measure: ReportDefinition.Measure, at place: Int) {
      self.measure = measure
      label = measure.label
      self.place = place
    }
  }

  init(plan: ReportPlan, people: PeopleJoin?) {
    self.people = people
    guard case .measures(let measures, _) = plan.definition.content else {
      columns = []
      return
    }
    columns = zip(measures, plan.places).map { Column($0, at: $1) }
  }

  /// One member for each measure, in the definition's order.
  func members(_ cell: Cell) -> [(key: String, value: AnswerValue)] {
    var members: [(key: String, value: AnswerValue)] = []
    members.reserveCapacity(columns.count)
    for column in columns { members.append((column.label, value(column, cell))) }
    return members
  }

  private func value(_ column: Column, _ cell: Cell) -> AnswerValue {
    let place = column.place
    return switch column.measure {
    case .count: .count(cell.count)
    case .unique: Self.unique(cell.sets[place])
    case .people: people(cell.sets[place])
    case .number(_, let output): Self.number(cell.numbers[place], output)
    case .quantiles(_, let parts): Self.quantiles(cell.sketches[place], parts)
    case .top(_, let limit): Self.top(cell.tops[place], limit)
    case .histogram(_, let rule): Self.histogram(cell.histograms[place], rule)
    }
  }

  private static func unique(_ set: DistinctSet) -> AnswerValue {
    .object([
      ("value", .count(set.count)), ("exact", .boolean(set.isExact)),
      ("error", .double(set.isExact ? 0 : HyperLogLog.error)),
    ])
  }

  private func people(_ set: DistinctSet) -> AnswerValue {
    guard set.isExact, let people else {
      // Joining needs every id.
      return .object([
        ("value", .null), ("exact", .boolean(false)), ("ids", .count(set.count)),
        ("error", .double(HyperLogLog.error)),
      ])
    }
    var persons = HashTable64()
    set.exact.forEach { _ = persons.insert(people.person(of: $0)) }
    return .object([
      ("value", .whole(Int128(persons.count))), ("exact", .boolean(true)),
      ("ids", .count(set.count)), ("error", .double(0)),
    ])
  }

  private static func number(
    _ summary: NumberSummary, _ output: ReportDefinition.NumberOutput
  ) -> AnswerValue {
    let value: AnswerValue =
      switch output {
      case .sum: AnswerValue(summary.sum)
      case .min: AnswerValue(summary.least)
      case .max: AnswerValue(summary.greatest)
      case .mean: AnswerValue(summary.mean.map { .double($0) })
      }
    return .object([
      ("value", value), ("count", .count(summary.count)), ("leftOut", .count(summary.leftOut)),
    ])
  }

  private static func quantiles(_ sketch: QuantileSketch, _ parts: [Double]) -> AnswerValue {
    let values = zip(parts, sketch.quantiles(parts)).map { part, value in
      (key: name(ofPart: part), value: value.map { AnswerValue.double($0) } ?? .null)
    }
    return .object(
      values + [("count", .count(sketch.count)), ("error", .double(sketch.error))])
  }

  /// `p50`, `p99.9`.
  static func name(ofPart part: Double) -> String {
    let percent = (part * 100_000).rounded() / 1000
    return "p" + (Int(exactly: percent).map { "\($0)" } ?? "\(percent)")
  }

  private static func top(_ top: TopValues, _ limit: Int) -> AnswerValue {
    let sorted = top.sorted()
    let shown = sorted.prefix(limit)
    let rest = sorted.dropFirst(limit)
    let values = shown.map { key, entry in
      AnswerValue.object(
        [("value", GroupKey.value(key)), ("count", .count(entry.count))]
          + (entry.mayMiss > 0 ? [("mayMiss", .count(entry.mayMiss))] : []))
    }
    let other = top.other + rest.reduce(0) { $0 + $1.entry.count }
    return .object([
      ("values", .list(values)), ("other", .count(other)),
      ("folded", .count(top.folded + UInt64(rest.count))), ("total", .count(top.total)),
    ])
  }

  private static func histogram(_ histogram: Histogram, _ rule: BucketRule) -> AnswerValue {
    let counts = zip(rule.labels, histogram.counts).map { (key: $0, value: AnswerValue.count($1)) }
    return .object(counts + [("leftOut", .count(histogram.leftOut))])
  }
}

/// The key of a group as values.
enum GroupKey {
  /// One value in MessagePack as JSON.
  static func value(_ key: [UInt8]) -> AnswerValue {
    values(key).first ?? .null
  }

  /// The values of a key, one after another.
  static func values(_ key: [UInt8]) -> [AnswerValue] {
    var values: [AnswerValue] = []
    let span = unsafe key.span.bytes
    var reader = MessagePackReader(span)
    while !reader.isAtEnd {
      let start = reader.position
      do throws(MessagePackError) {
        if let text = try text(&reader) {
          values.append(.text(text))
          continue
        }
        try reader.skip()
      } catch { return values }
      var json: [UInt8] = []
      do throws(CodecError) {
        try CanonicalJSON.append(value: span.extracting(start..<reader.position), to: &json)
      } catch { return values }
      // A damaged file may hold texts that are none, which JSON cannot have.
      values.append(.json(Array(String(decoding: json, as: UTF8.self).utf8)))
    }
    return values
  }
}

extension GroupKey {
  /// The text that is next; nil when the next value is none.
  private static func text(
    _ reader: inout MessagePackReader
  ) throws(MessagePackError) -> String? {
    let type = try reader.peek()
    guard type & 0xE0 == 0xA0 || (0xD9...0xDB).contains(type) else { return nil }
    return try reader.readString()
  }
}

extension ReportDefinition.Measure {
  /// What answers call it.
  var label: String {
    switch self {
    case .count: "count"
    case .unique(let path, _): "unique \(path.text)"
    case .people: "people"
    case .number(let path, let output): "\(output.rawValue) \(path.text)"
    case .quantiles(let path, _): "quantiles \(path.text)"
    case .top(let path, _): "top \(path.text)"
    case .histogram(let path, _): "histogram \(path.text)"
    }
  }
}

extension FieldPath {
  /// As it was written.
  var text: String {
    switch self {
    case .event: "event"
    case .user: "user"
    case .keys(let keys):
      keys.map { key in
        var text: [UInt8] = []
        for byte in key {
          if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "\\") {
            text.append(UInt8(ascii: "\\"))
          }
          text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
      }.joined(separator: ".")
    }
  }
}
