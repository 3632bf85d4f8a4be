import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Nothing there yet, the aggregator gone and back, a missing library.
  @Suite(.enabled(if: Browser.isThere, "chromium is not installed"))
  struct DashboardStateTests {
    @Test func `an empty bus says what to publish, and the first event makes the page full`() throws
    {
      let dashboard = try TestDashboard()
      let page = try Browser().page(dashboard.url)
      try page.sees("#connection", text: "Live")
      try page.sees("document.querySelector('#empty').checkVisibility()")
      #expect(try page.text("#empty-commands").contains("eventbus publish --event"))
      #expect(try !page.isVisible("#counts"))
      try dashboard.publish([(name: "First", user: "u", properties: "{}")])
      try page.sees("document.querySelector('#total').checkVisibility()")
      try page.sees("#total", text: "1")
      #expect(try !page.isVisible("#empty"))
    }

    @Test
    func `a killed aggregator leaves its last numbers in grey, and the page comes back by itself`()
      throws
    {
      let port = 1024 + Int(ProcessInfo.processInfo.processIdentifier) % 20_000
      let dashboard = try TestDashboard(["--listen", "127.0.0.1:\(port)"])
      try dashboard.publishVisits(0..<4)
      let page = try Browser().page(dashboard.url)
      try page.sees("#total", text: "6")
      #expect(try !page.isVisible("#banner"))
      dashboard.aggregator.kill()
      try page.sees("#banner", text: "The aggregator does not answer. The numbers are of")
      try page.sees("#banner-wait", text: "Trying again")
      #expect(try page.text("#connection") == "Not connected")
      #expect(try page.number("#total") == 6)
      let grey = "getComputedStyle(document.querySelector('#counts')).filter"
      #expect(try page.value(grey).text == "grayscale(1)")
      try dashboard.aggregator.start()
      try page.sees("#connection", text: "Live")
      #expect(try page.value(grey).text == "none")
      try dashboard.publishVisits(4..<6)
      try page.sees("#total", text: "9")
      #expect(try !page.isVisible("#banner"))
    }

    @Test func `an aggregator that hangs is silent, and one without a bus says so`() throws {
      let dashboard = try TestDashboard()
      try dashboard.publishVisits(0..<4)
      let page = try Browser().page(dashboard.url)
      try page.sees("#total", text: "6")
      dashboard.aggregator.process.signal(SIGSTOP)
      try page.sees("#connection", text: "Silent")
      #expect(try page.text("#banner").contains("Nothing comes from the aggregator any more"))
      dashboard.aggregator.process.signal(SIGCONT)
      try page.sees("#connection", text: "Live")
      try page.sees("!document.querySelector('#banner').checkVisibility()")
      dashboard.broker.kill()
      try page.sees("#banner", text: "does not reach the bus", .seconds(60))
    }

    @Test func `an end in order does not wait for pages that look on`() throws {
      let dashboard = try TestDashboard()
      try dashboard.publishVisits(0..<2)
      let browser = try Browser()
      let pages = try (0..<3).map { _ in try browser.page(dashboard.url) }
      for page in pages { try page.sees("#connection", text: "Live") }
      let start = SystemClock.monotonic()
      dashboard.aggregator.process.signal(SIGTERM)
      #expect(dashboard.aggregator.process.wait() == .exited(0))
      #expect(SystemClock.monotonic() - start < Sanitizer.patience(.seconds(8)))
      try pages[0].sees("#connection", text: "Not connected")
    }

    @Test func `a tab that nobody sees for a minute gives its stream back, and goes on when seen`()
      throws
    {
      let dashboard = try TestDashboard()
      try dashboard.publishVisits(0..<4)
      let page = try Browser().page(dashboard.url)
      try page.sees("#connection", text: "Live")
      try page.sees("#total", text: "6")
      // A minute lasts as long as the test says.
      _ = try page.value(
        """
        window.timers = new Map();
        const [set, clear] = [window.setTimeout, window.clearTimeout];
        window.setTimeout = (body, wait, ...more) => {
          if (wait !== 60000) return set(body, wait, ...more);
          const id = -1 - window.timers.size;
          window.timers.set(id, body);
          return id;
        };
        window.clearTimeout = (id) => { if (!window.timers.delete(id)) clear(id); };
        window.show = (isSeen) => {
          Object.defineProperty(document, "hidden", { configurable: true, get: () => !isSeen });
          document.dispatchEvent(new Event("visibilitychange"));
          return window.timers.size;
        };
        0
        """)
      // Seen again within the minute nothing happens.
      #expect(try page.value("window.show(false)").int == 1)
      #expect(try page.value("window.show(true)").int == 0)
      #expect(try page.text("#connection") == "Live")
      #expect(try page.value("window.show(false)").int == 1)
      _ = try page.value("[...window.timers.values()].forEach((body) => body())")
      try page.sees("#connection", text: "Paused")
      let streams = try waitUntil {
        try dashboard.aggregator.get("/metrics").contains("eventbus_aggregator_page_streams 0\n")
      }
      #expect(streams)
      try dashboard.publishVisits(4..<6)
      #expect(try page.number("#total") == 6)
      _ = try page.value("window.show(true)")
      try page.sees("#connection", text: "Live")
      try page.sees("#total", text: "9")
      #expect(page.complaints.isEmpty, "\(page.complaints)")
    }

    @Test func `without the library the page says what to install, and tables hold the numbers`()
      throws
    {
      let dashboard = try TestDashboard()
      try dashboard.publishVisits(0..<4)
      let page = try Browser().page(dashboard.url, blocking: ["*/chart.js"])
      try page.sees("#total", text: "6")
      #expect(try page.text("#library").contains("apt-get install libjs-chart.js"))
      try page.sees("#counts-table tbody tr", text: "6")
      #expect(try page.isVisible("#breakdown-table tbody tr") && !page.isVisible("#counts-chart"))
    }

    @Test func `a report file with a fault is told on the page`() throws {
      let dashboard = try TestDashboard()
      try dashboard.publishVisits(0..<2)
      let page = try Browser().page(dashboard.url)
      try page.sees("#total", text: "3")
      try dashboard.aggregator.write(reports: "{\"reports\": [\n{\"nam\": \"b\"}]}")
      try page.sees("#banner", text: "line 2")
    }
  }
}
