import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Reports over a week of a real web site, against numbers that the test counts itself.
  @Suite struct WeblogReportTests {
    private static let reports = """
      {"reports": [
        {"name": "by-status", "by": ["event", "properties.status"], "window": "day"},
        {"name": "bytes", "by": ["event"], "window": "all", "measures": [
          {"sum": "properties.bytes"}, {"quantiles": "properties.bytes", "at": [0.5, 0.9, 0.99]}]},
        {"name": "visitors", "window": "hour", "measures": [{"unique": "user"}]},
        {"name": "looked-closer", "funnel": ["Page Viewed", "Asset Fetched"], "within": "10s",
         "window": "day"}
      ]}
      """

    private struct Visit {
      var event: String
      var visitor: String
      var time: Date
      var status: Int
      var bytes: Double?
    }

    @Test func `they equal an independent count, live and after kills`() throws {
      guard let path = Inputs.path("weblog.ndjson.gz") else { return }
      let (_, output, _) = try ChildProcess.run("gzip", ["-dc", path])
      let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
      let visits = try Self.visits(lines)
      let broker = try TestBroker()
      let aggregator = try TestAggregator(broker.bus, reports: Self.reports)
      var head = 0
      for (number, start) in stride(from: 0, to: lines.count, by: 2000).enumerated() {
        // Every seventh twice, blocks reversed.
        let block = lines[start..<min(start + 2000, lines.count)].reversed().enumerated()
        let sent = block.flatMap { $0.offset % 7 == 0 ? [$0.element, $0.element] : [$0.element] }
        #expect(try broker.publish(lines: sent).status == .exited(0))
        head += sent.count
        if number % 2 == 1 {
          aggregator.kill()
          try aggregator.start()
        }
      }
      let status = try aggregator.status(at: head)
      #expect(status["ledger"]?["applied"]?.int == lines.count)
      try expectCounts(aggregator, visits)
      try expectQuantiles(aggregator, visits)
      try expectFunnel(aggregator, visits)
    }

    private func expectCounts(_ aggregator: TestAggregator, _ visits: [Visit]) throws {
      let byEvent = Dictionary(grouping: visits, by: \.event).mapValues { Double($0.count) }
      #expect(try aggregator.report("events-by-day").counts() == byEvent)
      let hour = { (visit: Visit) in Self.text(visit.time, to: 3600) }
      let byHour = Dictionary(grouping: visits, by: hour)
      let hours = try aggregator.report("events-by-hour")
      #expect(hours.series() == byHour.mapValues { Double($0.count) })
      let visitors = try aggregator.report("visitors")
      #expect(
        visitors.series("unique user") == byHour.mapValues { Double(Set($0.map(\.visitor)).count) })
      #expect(
        visitors["total"]?["unique user"]?["value"]?.int == Set(visits.map(\.visitor)).count)
      let status = try aggregator.report("by-status")["groups"]?.list ?? []
      let expected = Dictionary(grouping: visits) { "\($0.event) \($0.status)" }
      #expect(status.count == expected.count)
      for group in status {
        let by = group["by"]?.list ?? []
        let key = "\(by.first?.text ?? "") \(by.last?.int ?? 0)"
        #expect(group["count"]?.int == expected[key]?.count, "\(key)")
      }
    }

    private func expectQuantiles(_ aggregator: TestAggregator, _ visits: [Visit]) throws {
      let groups = try aggregator.report("bytes")["groups"]?.list ?? []
      for group in groups {
        let event = group["by"]?.list.first?.text ?? ""
        let values = visits.filter { $0.event == event }.compactMap(\.bytes).sorted()
        #expect(group["sum properties.bytes"]?["value"]?.number ?? 0 == values.reduce(0, +))
        let found = group["quantiles properties.bytes"]
        let error = try #require(found?["error"]?.number)
        #expect(values.count > 1000 ? error < 0.004 : error == 0)
        for (name, part) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] where !values.isEmpty {
          let truth = values[Int((part * Double(values.count)).rounded(.up)) - 1]
          let answer = found?[name]?.number ?? -1
          #expect(abs(answer - truth) <= error * truth, "\(event) \(name)")
        }
      }
    }

    private func expectFunnel(_ aggregator: TestAggregator, _ visits: [Visit]) throws {
      var first = 0
      var second = 0
      for (_, own) in Dictionary(grouping: visits, by: \.visitor) {
        let fetched = own.filter { $0.event == "Asset Fetched" }.map(\.time)
        let viewed = own.filter { $0.event == "Page Viewed" }
        for (_, day) in Dictionary(grouping: viewed, by: { Self.text($0.time, to: 86_400) }) {
          first += 1
          let isConverted = day.contains { view in
            fetched.contains { 0...10 ~= $0.timeIntervalSince(view.time) }
          }
          if isConverted { second += 1 }
        }
      }
      let steps = try aggregator.report("looked-closer")["total"]?["steps"]?.list ?? []
      #expect(steps.map { $0["users"]?.int } == [first, second])
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
}
