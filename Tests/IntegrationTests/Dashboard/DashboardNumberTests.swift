import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// The page's numbers, as a person reads them, against the API's.
  @Suite(.enabled(if: Browser.isThere, "chromium is not installed"))
  struct DashboardNumberTests {
    @Test func `the numbers are those of the API, and new events come without a reload`() throws {
      let dashboard = try TestDashboard()
      try dashboard.publishVisits(0..<40)
      let browser = try Browser()
      let page = try browser.page(dashboard.url)
      try page.sees("#total", text: "60")
      _ = try page.value("window.wasNotReloaded = true")
      try compare(page, dashboard)
      try dashboard.publishVisits(40..<100)
      try page.sees("#total", text: "150")
      try page.sees("document.querySelector('#funnel-steps .value').innerText.includes('100')")
      try compare(page, dashboard)
      #expect(try page.value("window.wasNotReloaded") == .bool(true))
      let hosts = try page.value(
        "[...new Set(performance.getEntriesByType('resource').map((e) => new URL(e.name).origin))]")
      #expect(hosts.list.compactMap(\.text) == [dashboard.aggregator.url])
      #expect(page.complaints.isEmpty, "\(page.complaints)")
    }

    /// Everything on the page against the same questions to the API.
    private func compare(_ page: BrowserPage, _ dashboard: TestDashboard) throws {
      let aggregator = dashboard.aggregator
      let counts = try aggregator.report("events-by-minute", ["--from", "1h"])
      let users = try aggregator.report("users-by-hour", ["--from", "1h"])
      #expect(try page.number("#total") == counts["total"]?["count"]?.int)
      #expect(try page.number("#users") == users["total"]?["unique user"]?["value"]?.int)
      #expect(try page.number("#name-count") == 2)
      let rows = try page.texts("#names-table tbody tr").map { $0.split(separator: "\t") }
      let shown = Dictionary(
        rows.map { (String($0[0]), Double($0[1].filter(\.isNumber)) ?? -1) }
      ) { first, _ in first }
      #expect(shown == counts.counts())
      let people = Dictionary(
        rows.map { (String($0[0]), Double($0[3].filter(\.isNumber)) ?? -1) }
      ) { first, _ in first }
      #expect(people == users.counts("unique user"))
      try compareCharts(page, aggregator, total: counts)
    }

    private func compareCharts(
      _ page: BrowserPage, _ aggregator: TestAggregator, total: JSONValue
    ) throws {
      let steps = try aggregator.report("purchase")["total"]?["steps"]?.list ?? []
      let users = try page.texts("#funnel-steps .value").map { Int($0.filter(\.isNumber)) }
      #expect(users == steps.map { $0["users"]?.int } && users.count == 2)
      let quantiles = try aggregator.report("prices")["total"]?["quantiles properties.price"]
      let figures = try page.texts("#quantiles-total dd").map(Double.init)
      #expect(figures == [quantiles?["p50"]?.number, quantiles?["p90"]?.number])
      // Tables stand for the charts and hold the same, also while they are folded.
      let plans = try rows(page, "#breakdown-table").map { ($0[0], Double($0[1]) ?? -1) }
      #expect(
        Dictionary(plans) { first, _ in first } == (try aggregator.report("by-plan").counts()))
      let minutes = try rows(page, "#counts-table").compactMap { Int($0.last ?? "") }
      #expect(minutes.reduce(0, +) == total["total"]?["count"]?.int && minutes.count >= 59)
    }

    private func rows(_ page: BrowserPage, _ selector: String) throws -> [[String]] {
      try page.value(
        """
        [...document.querySelectorAll("\(selector) tbody tr")]
          .map((row) => [...row.cells].map((cell) => cell.textContent.replace(/[^\\w.]/g, "")))
        """
      ).list.map { $0.list.compactMap(\.text) }
    }

    @Test func `no digit is lost of numbers that no double holds`() throws {
      let dashboard = try TestDashboard(
        reports: """
          {"reports": [{"name": "ids", "by": ["properties.id"], "window": "hour",
            "measures": ["count", {"sum": "properties.id"}, {"max": "properties.id"}]}]}
          """)
      let ids = [
        "9007199254740993", "9007199254740992", "-9223372036854775808", "18446744073709551615",
        "[9007199254740995]", "1e+300", "12",
      ]
      try dashboard.publish(ids.map { (name: "Seen", user: "u", properties: "{\"id\":\($0)}") })
      // Digit for digit: no reader of JSON stands between.
      let (_, answer, _) = try ChildProcess.run(
        "curl", ["-s", dashboard.url + "api/reports/ids?windows=none"])
      let text = String(decoding: answer, as: UTF8.self)
      for id in ids { #expect(text.contains("\"by\":[\(id)]"), "\(id) in \(text)") }
      #expect(text.contains("18446744073709551615"))
      let page = try Browser().page(dashboard.url)
      // The table is folded, so nothing of it is visible text.
      let cells = "[...document.querySelectorAll('#breakdown-table tbody th')]"
      try page.sees("\(cells).length === \(ids.count)")
      let shown = try page.value("\(cells).map((cell) => cell.textContent)").list
      #expect(Set(shown.compactMap(\.text)) == Set(ids), "\(shown)")
      let formats = try page.value(
        """
        (async () => { const f = await import("./format.js");
          const value = f.parse('{"a": 9007199254740993, "b": 1e300, "c": 5, "d": 0.25}');
          return [f.count(value.a), f.measured(value.a), f.measured(value.b), f.count(value.c),
            f.measured(value.d), value.a + 1 > 9e15]; })()
        """)
      #expect(
        formats.list == [
          .text("9,007,199,254,740,993"), .text("9,007,199,254,740,993"), .text("1E300"),
          .text("5"), .text("0.25"), .bool(true),
        ], "\(formats)")
      #expect(page.complaints.isEmpty, "\(page.complaints)")
    }

    @Test func `rates show while events come, and the pipeline shows who runs`() throws {
      let dashboard = try TestDashboard()
      let browser = try Browser()
      let page = try browser.page(dashboard.url)
      let load = try Program.shell(
        "\"$EVENTBUS\" publish --count 600 --rate 60 --event 'Steady' --bus \(dashboard.broker.bus)"
      )
      try page.sees("#live-names .name", text: "Steady")
      try page.sees("parseFloat(document.querySelector('#rate').innerText) >= 20")
      try page.sees("#live-names .value", text: "/s")
      #expect(load.wait() == .exited(0))
      try page.sees("#total", text: "600")
      let rows = try page.texts("#pipeline-table tbody tr").map {
        $0.split(separator: "\t").prefix(3).joined(separator: "|")
      }
      #expect(rows == ["broker|broker|running", "aggregator|aggregator|running"])
      dashboard.broker.kill()
      try page.sees("#pipeline-table tbody tr", text: "not running")
      try page.sees("#health-figure", text: "in trouble")
    }

    @Test func `the period chosen is the period counted, and stays after a reload`() throws {
      let dashboard = try TestDashboard(reports: nil)
      let hourAgo = { (hours: Double) in
        Date(timeIntervalSinceNow: -hours * 3600).formatted(.iso8601)
      }
      let lines = [0.1, 0.2, 5, 30, 200].map {
        "{\"type\":\"track\",\"event\":\"Seen\",\"userId\":\"u\",\"timestamp\":\"\(hourAgo($0))\"}"
      }
      #expect(try dashboard.broker.publish(lines: lines).status == .exited(0))
      _ = try dashboard.aggregator.status(at: lines.count)
      let page = try Browser().page(dashboard.url)
      for (period, count) in [("hour", 2), ("day", 3), ("week", 4), ("month", 5)] {
        _ = try page.value("document.querySelector('input[value=\(period)]').click()")
        try page.sees("document.querySelector('#total').innerText === '\(count)'")
      }
      _ = try page.value("document.querySelector('input[value=custom]').click()")
      #expect(try page.isVisible("#custom-from"))
      _ = try page.value(
        """
        (() => { const set = (id, hours) => { const input = document.getElementById(id);
            const date = new Date(Date.now() - hours * 3600000);
            input.value = new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
            input.dispatchEvent(new Event("change")); };
          set("custom-from", 40); set("custom-to", 3); })()
        """)
      try page.sees("document.querySelector('#total').innerText === '2'")
      try page.call("Page.reload")
      try page.sees("document.querySelector('#total')?.innerText === '2'")
      #expect(
        try page.value("document.querySelector('input[value=custom]').checked") == .bool(true))
      // Times are told in the viewer's zone, wherever the reports' is.
      try page.call("Emulation.setTimezoneOverride", ["timezoneId": "Asia/Tokyo"])
      _ = try page.value("location.assign('/')")
      try page.sees("#zones", text: "your zone, Asia/Tokyo")
      #expect(try page.text("#zones").contains("those of UTC, the zone of the reports"))
    }
  }
}
