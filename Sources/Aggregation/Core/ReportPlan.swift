internal import EventCodec
internal import EventModel

/// A definition made ready to run: patterns parsed, fields numbered, each measure's place known.
struct ReportPlan: Sendable {
  /// What an event does to a cell, beside being counted. Numbers alone: copied for each event, it costs
  /// no count of references.
  enum Feed: Sendable, BitwiseCopyable {
    case set(Int, hash: Int, exactly: Int)
    case number(Int, field: Int)
    case sketch(Int, field: Int)
    case top(Int, breakdown: Int, limit: Int)
    case histogram(Int, field: Int, rule: Int)
  }

  struct Matcher: Sendable {
    var pattern: EventPattern
    var conditions: [WhereClause]
  }

  enum Kind: Sendable {
    case measures([Feed], breakdown: Int)
    case funnel([Matcher], within: Int64)
    case retention(first: Matcher, back: Matcher, periods: Int)
    case sessions(gap: Int64)
  }

  let definition: ReportDefinition
  let patterns: [EventPattern]
  let conditions: [WhereClause]
  let rule: WindowRule
  /// Nanoseconds after a window's end at which it takes no more events, and at which it is deleted.
  let lateness: Int64
  let keep: Int64
  let kind: Kind
  let shape: CellShape
  /// Where each number measure's summary is, by the measure's place in the definition; alike for sets,
  /// sketches, tops and histograms.
  let places: [Int]
  let needsUser: Bool
  let needsFields: Bool
  /// The places of the sets that hold users.
  let userSets: [Int]
  /// Numbers of the hashes and breakdowns that it wants.
  let hashes: [Int]
  let breakdowns: [Int]

  static let second: Int64 = 1_000_000_000

  init(_ definition: ReportDefinition, _ table: inout SourceTable) {
    self.definition = definition
    patterns =
      definition.events.map { EventPattern($0) }
      + definition.exactEvents.map { EventPattern(exact: Array($0.utf8)) }
    conditions = Self.clauses(definition.conditions)
    // A zone that has gone since the file was read cannot be told anybody here; UTC goes on counting.
    rule = WindowRule(definition.window, zone: CivilTime(named: definition.zone) ?? .utc)
    keep = Self.nanoseconds(definition.keep)
    lateness = min(definition.lateness.map(Self.nanoseconds) ?? .max, keep)
    var builder = Builder(table: table)
    kind = builder.kind(definition.content)
    table = builder.table
    (shape, places) = (builder.shape, builder.places)
    needsUser = builder.needsUser
    needsFields = builder.needsFields
    userSets = builder.userSets
    (hashes, breakdowns) = (builder.hashes, builder.breakdowns)
  }

  func matches(_ name: [UInt8]) -> Bool {
    patterns.isEmpty || patterns.contains { $0.matches(name) }
  }

  /// Nanoseconds, the highest there is where they do not fit.
  static func nanoseconds(_ seconds: Int64) -> Int64 {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: second)
    return overflow ? (seconds < 0 ? .min : .max) : product
  }

  /// The whole seconds of a time, rounded down.
  @inline(__always)
  static func seconds(_ time: Int64) -> Int64 {
    time >= 0 ? time / second : (time + 1) / second - 1
  }

  /// When a window takes no more events: its end and the lateness, in event time.
  func closing(_ window: Range<Int64>) -> Int64 {
    Self.nanoseconds(window.upperBound).addingSaturated(lateness)
  }

  func expiry(_ window: Range<Int64>) -> Int64 {
    Self.nanoseconds(window.upperBound).addingSaturated(keep)
  }

  static func clauses(_ texts: [String]) -> [WhereClause] {
    texts.compactMap { text in
      // The reader of the file has parsed each already.
      do throws(WhereClause.SyntaxError) { return try WhereClause(text) } catch { return nil }
    }
  }
}

extension ReportPlan {
  /// Numbers the fields and lays out the cells of one report.
  private struct Builder {
    var table: SourceTable
    var shape = CellShape()
    var places: [Int] = []
    var needsUser = false
    var needsFields = false
    var userSets: [Int] = []
    var hashes: [Int] = []
    var breakdowns: [Int] = []
    /// One summary serves sum, min, max and mean of a property, one sketch all its quantiles.
    private var summaries: [Int: Int] = [:]
    private var sketches: [Int: Int] = [:]

    init(table: SourceTable) { self.table = table }

    mutating func kind(_ content: ReportDefinition.Content) -> Kind {
      switch content {
      case .measures(let measures, let by):
        let breakdown = breakdown(by.map { dimension($0) })
        var feeds: [Feed] = []
        for measure in measures {
          if let feed = feed(measure) { feeds.append(feed) }
        }
        return .measures(feeds, breakdown: breakdown)
      case .funnel(let steps, let within):
        needsUser = true
        shape.tallies = steps.count
        return .funnel(steps.map(matcher), within: nanoseconds(within))
      case .retention(let first, let back, let periods):
        needsUser = true
        shape.tallies = periods + 1
        return .retention(first: matcher(first), back: matcher(back), periods: periods)
      case .sessions(let gap):
        needsUser = true
        shape.tallies = SessionTally.count
        return .sessions(gap: nanoseconds(gap))
      }
    }

    private func matcher(_ step: ReportDefinition.Step) -> Matcher {
      Matcher(
        pattern: step.isExact
          ? EventPattern(exact: Array(step.event.utf8)) : EventPattern(step.event),
        conditions: clauses(step.conditions))
    }

    private mutating func source(_ path: FieldPath) -> SourceTable.Source {
      switch path {
      case .event: return .event
      case .user:
        needsUser = true
        return .user
      case .keys(let keys):
        needsFields = true
        return .field(table.field(at: keys))
      }
    }

    /// Numbers come from fields only: an event's name and a user are none.
    private mutating func field(_ path: FieldPath) -> Int {
      if case .field(let field) = source(path) { return field }
      needsFields = true
      return table.field(at: [Array("event".utf8)])
    }

    private mutating func dimension(
      _ dimension: ReportDefinition.Dimension
    ) -> SourceTable.Source {
      guard let rule = dimension.buckets else { return source(dimension.path) }
      return .bucket(field(dimension.path), rule: table.number(of: rule))
    }

    private mutating func breakdown(_ sources: [SourceTable.Source]) -> Int {
      breakdowns.append(table.number(of: sources))
      return breakdowns[breakdowns.count - 1]
    }

    /// Nil where the measure needs nothing of its own: counts, and summaries that are there already.
    private mutating func feed(_ measure: ReportDefinition.Measure) -> Feed? {
      switch measure {
      case .count:
        places.append(0)
        return nil
      case .unique(let path, let limit):
        return set(source(path), limit)
      case .people:
        needsUser = true
        return set(.user, PeopleJoin.exactLimit)
      case .number(let path, _):
        let field = field(path)
        let known = summaries[field]
        places.append(known ?? shape.numbers)
        if known != nil { return nil }
        summaries[field] = shape.numbers
        shape.numbers += 1
        return .number(shape.numbers - 1, field: field)
      case .quantiles(let path, _):
        let field = field(path)
        let known = sketches[field]
        places.append(known ?? shape.sketches)
        if known != nil { return nil }
        sketches[field] = shape.sketches
        shape.sketches += 1
        return .sketch(shape.sketches - 1, field: field)
      case .top(let path, let limit):
        let kept = TopValues.kept(toShow: limit)
        places.append(shape.tops.count)
        shape.tops.append(kept)
        return .top(shape.tops.count - 1, breakdown: breakdown([source(path)]), limit: kept)
      case .histogram(let path, let rule):
        places.append(shape.histograms.count)
        shape.histograms.append(rule.labels.count)
        return .histogram(
          shape.histograms.count - 1, field: field(path), rule: table.number(of: rule))
      }
    }

    private mutating func set(_ source: SourceTable.Source, _ limit: Int) -> Feed {
      places.append(shape.sets.count)
      if case .user = source { userSets.append(shape.sets.count) }
      shape.sets.append(limit)
      hashes.append(table.number(ofHash: source))
      return .set(shape.sets.count - 1, hash: hashes[hashes.count - 1], exactly: limit)
    }
  }
}

extension Int64 {
  /// The sum, at its bound where it does not fit.
  func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
