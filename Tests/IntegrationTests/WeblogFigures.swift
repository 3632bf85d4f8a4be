import Foundation
import TestSupport
import Testing

/// What reports over the week of a web site must say: counted by the test, and by DuckDB.
struct WeblogFigures: Equatable {
  var events: [String: Int] = [:]
  /// By the hour's start, as reports write it.
  var hours: [String: Int] = [:]
  /// By name and status.
  var statuses: [String: Int] = [:]
  var visitorsOfHours: [String: Int] = [:]
  var visitors = 0
  var bytes: [String: Double] = [:]
  /// By name, of nearest rank: of 50, 90 and 99 parts in a hundred.
  var quantiles: [String: [Double]] = [:]
  /// How many values these have.
  var values: [String: Int] = [:]
  /// On each day, visitors who viewed a page, and who fetched an asset within 10 seconds of it.
  var funnel: [Int] = []

  static let parts = [0.5, 0.9, 0.99]

  private struct Visit {
    var event: String
    var visitor: String
    var time: Date
    var status: Int
    var bytes: Double?
  }

  init() {}

  init(counting lines: [String]) throws {
    let visits = try Self.visits(lines)
    events = Dictionary(grouping: visits, by: \.event).mapValues(\.count)
    let ofHours = Dictionary(grouping: visits) { Self.text($0.time, to: 3600) }
    hours = ofHours.mapValues(\.count)
    visitorsOfHours = ofHours.mapValues { Set($0.map(\.visitor)).count }
    visitors = Set(visits.map(\.visitor)).count
    statuses = Dictionary(grouping: visits) { "\($0.event) \($0.status)" }.mapValues(\.count)
    for (event, own) in Dictionary(grouping: visits, by: \.event) {
      let sorted = own.compactMap(\.bytes).sorted()
      bytes[event] = sorted.reduce(0, +)
      values[event] = sorted.count
      quantiles[event] = Self.parts.compactMap { part in
        sorted.isEmpty ? nil : sorted[Int((part * Double(sorted.count)).rounded(.up)) - 1]
      }
    }
    countFunnel(visits)
  }

  private mutating func countFunnel(_ visits: [Visit]) {
    funnel = [0, 0]
    for (_, own) in Dictionary(grouping: visits, by: \.visitor) {
      let fetched = own.filter { $0.event == "Asset Fetched" }.map(\.time)
      let viewed = own.filter { $0.event == "Page Viewed" }
      for (_, day) in Dictionary(grouping: viewed, by: { Self.text($0.time, to: 86_400) }) {
        funnel[0] += 1
        let isConverted = day.contains { view in
          fetched.contains { 0...10 ~= $0.timeIntervalSince(view.time) }
        }
        if isConverted { funnel[1] += 1 }
      }
    }
  }

  private static func visits(_ lines: [String]) throws -> [Visit] {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions.insert(.withFractionalSeconds)
    return try lines.map { line in
      let json = try JSONSerialization.jsonObject(with: Data(line.utf8))
      let event = try #require(json as? [String: Any])
      let properties = try #require(event["properties"] as? [String: Any])
      return Visit(
        event: try #require(event["event"] as? String),
        visitor: try #require(event["userId"] as? String ?? event["anonymousId"] as? String),
        time: try #require(formatter.date(from: event["timestamp"] as? String ?? "")),
        status: try #require(properties["status"] as? Int),
        bytes: (properties["bytes"] as? NSNumber)?.doubleValue)
    }
  }

  /// The start of the hour or day, as reports write it.
  private static func text(_ time: Date, to seconds: Int) -> String {
    let whole = Int(time.timeIntervalSince1970) / seconds * seconds
    return Date(timeIntervalSince1970: Double(whole)).formatted(.iso8601)
  }
}

extension WeblogFigures {
  /// DuckDB's answers over the file; nil, and a line that says so, where Python has no DuckDB.
  init?(askingDuckDB path: String) throws {
    let (status, output, errors) = try ChildProcess.run(
      "python3", ["-c", Self.program, path], limit: .seconds(120))
    guard status == .exited(0) else {
      let text = String(decoding: errors, as: UTF8.self)
      try #require(text.contains("No module named 'duckdb'"), "\(text)")
      print("integration tests: python3 has no duckdb; its answers are not compared")
      return nil
    }
    let answers = try JSONValue(text: String(decoding: output, as: UTF8.self))
    events = Self.counts(answers["events"])
    hours = Self.counts(answers["hours"])
    statuses = Self.counts(answers["statuses"])
    visitorsOfHours = Self.counts(answers["visitorsOfHours"])
    visitors = answers["visitors"]?.int ?? -1
    for row in answers["bytes"]?.list ?? [] {
      let event = row[0].text ?? ""
      bytes[event] = row[1].number
      values[event] = row[2].int
      quantiles[event] = row[3].list.compactMap(\.number)
    }
    funnel = answers["funnel"]?.list.compactMap(\.int) ?? []
  }

  private static func counts(_ rows: JSONValue?) -> [String: Int] {
    var counts: [String: Int] = [:]
    for row in rows?.list ?? [] { counts[row[0].text ?? ""] = row[1].int }
    return counts
  }

  private static let program = """
    import duckdb, json, sys
    db = duckdb.connect()
    db.execute('''create table visits as
      select event, coalesce(userId, anonymousId) as visitor, cast(timestamp as timestamp) as time,
        cast(json_extract(properties, '$.status') as int) as status,
        cast(json_extract(properties, '$.bytes') as double) as bytes
      from read_json(?, format = 'newline_delimited', columns = {event: 'varchar',
        userId: 'varchar', anonymousId: 'varchar', timestamp: 'varchar', properties: 'json'})''',
      [sys.argv[1]])
    def rows(text): return [list(row) for row in db.execute(text).fetchall()]
    hour = "strftime(date_trunc('hour', time), '%Y-%m-%dT%H:%M:%SZ')"
    print(json.dumps({
      'events': rows('select event, count(*) from visits group by 1'),
      'hours': rows(f'select {hour}, count(*) from visits group by 1'),
      'statuses': rows("select event || ' ' || status, count(*) from visits group by 1"),
      'visitorsOfHours': rows(f'select {hour}, count(distinct visitor) from visits group by 1'),
      'visitors': rows('select count(distinct visitor) from visits')[0][0],
      'bytes': rows('''select event, coalesce(sum(bytes), 0), count(bytes),
        quantile_disc(bytes, [0.5, 0.9, 0.99]) from visits group by 1'''),
      'funnel': rows('''select count(*), count(*) filter (converted) from (
        select visitor, date_trunc('day', time), bool_or(exists (
          select 1 from visits b where b.visitor = a.visitor and b.event = 'Asset Fetched'
            and b.time between a.time and a.time + interval 10 second)) as converted
        from visits a where event = 'Page Viewed' group by 1, 2)''')[0],
    }))
    """
}
