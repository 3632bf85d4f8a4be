import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Reports over a week of a real web site, against independent counts.
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

    @Test func `DuckDB and this test's own count agree`() throws {
      guard let lines = try Inputs.unpacked("weblog.ndjson.gz") else { return }
      let folder = try TemporaryFolder()
      let path = folder.file("weblog.ndjson")
      try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
      guard let figures = try WeblogFigures(askingDuckDB: path) else { return }
      #expect(figures == (try WeblogFigures(counting: lines)))
    }

    @Test func `they equal an independent count, live, after 20 kills and recomputed`() throws {
      guard let lines = try Inputs.unpacked("weblog.ndjson.gz") else { return }
      let figures = try WeblogFigures(counting: lines)
      let broker = try TestBroker()
      let aggregator = try TestAggregator(broker.bus, reports: Self.reports)
      let archiver = try TestArchiver(broker)
      let sent = Self.twiceAndReversed(lines)
      for kill in 0..<20 {
        let part = sent[sent.count * kill / 20..<sent.count * (kill + 1) / 20]
        #expect(try broker.publish(lines: Array(part)).status == .exited(0))
        aggregator.kill()
        try aggregator.start()
      }
      let status = try aggregator.status(at: sent.count)
      #expect(status["ledger"]?["applied"]?.int == lines.count)
      #expect(status["ledger"]?["duplicate"]?.int == sent.count - lines.count)
      try expect(figures, of: aggregator)
      #expect(archiver.waitForCursor(sent.count))
      #expect(archiver.stop() == .exited(0))
      aggregator.process.signal(SIGTERM)
      #expect(aggregator.process.wait() == .exited(0))
      // The archive has each event once.
      #expect(try aggregator.recompute(archiver.directory, broker.bus) == lines.count)
    }

    /// Every seventh event twice, blocks of 100 reversed.
    private static func twiceAndReversed(_ lines: [String]) -> [String] {
      var sent: [String] = []
      for start in stride(from: 0, to: lines.count, by: 100) {
        var block: [String] = []
        for index in start..<min(start + 100, lines.count) {
          block += index % 7 == 0 ? [lines[index], lines[index]] : [lines[index]]
        }
        sent += block.reversed()
      }
      return sent
    }

    private func expect(_ figures: WeblogFigures, of aggregator: TestAggregator) throws {
      let whole = { (counts: [String: Double]) in counts.mapValues { Int($0) } }
      #expect(whole(try aggregator.report("events-by-day").counts()) == figures.events)
      #expect(whole(try aggregator.report("events-by-hour").series()) == figures.hours)
      let visitors = try aggregator.report("visitors")
      #expect(whole(visitors.series("unique user")) == figures.visitorsOfHours)
      #expect(visitors["total"]?["unique user"]?["value"]?.int == figures.visitors)
      var statuses: [String: Int] = [:]
      for group in try aggregator.report("by-status")["groups"]?.list ?? [] {
        let by = group["by"] ?? .null
        statuses["\(by[0].text ?? "") \(by[1].int ?? 0)"] = group["count"]?.int
      }
      #expect(statuses == figures.statuses)
      let steps = try aggregator.report("looked-closer")["total"]?["steps"]?.list ?? []
      #expect(steps.map { $0["users"]?.int } == figures.funnel)
      try expectQuantiles(figures, aggregator)
    }

    private func expectQuantiles(_ figures: WeblogFigures, _ aggregator: TestAggregator) throws {
      let groups = try aggregator.report("bytes")["groups"]?.list ?? []
      #expect(groups.count == figures.bytes.count)
      for group in groups {
        let event = group["by"]?.list.first?.text ?? ""
        #expect(group["sum properties.bytes"]?["value"]?.number ?? 0 == figures.bytes[event])
        let found = group["quantiles properties.bytes"]
        let error = try #require(found?["error"]?.number)
        #expect((figures.values[event] ?? 0) > 1000 ? error < 0.004 : error == 0)
        for (name, truth) in zip(["p50", "p90", "p99"], figures.quantiles[event] ?? []) {
          let answer = found?[name]?.number ?? -1
          #expect(abs(answer - truth) <= error * truth, "\(event) \(name)")
        }
      }
    }
  }
}
