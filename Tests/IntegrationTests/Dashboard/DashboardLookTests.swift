import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Dark and light, phone and desk, keyboard, and who may look.
  @Suite(.enabled(if: Browser.isThere, "chromium is not installed"))
  struct DashboardLookTests {
    @Test func `every text can be read, in light and dark, and no phone scrolls sideways`() throws {
      let dashboard = try TestDashboard()
      try dashboard.publishVisits(0..<40)
      let page = try Browser().page(dashboard.url)
      try page.sees("document.querySelectorAll('#pipeline-table tbody tr').length > 1")
      try page.sees("#total", text: "60")
      _ = try page.value("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
      var backgrounds: Set<String> = []
      for (width, dark) in [(1280, false), (1280, true), (768, false), (360, true), (320, false)] {
        try page.look(width: width, height: 800, dark: dark)
        try page.sees("innerWidth === \(width)")
        let weak = try page.value(PageScript.weakTexts).list.compactMap(\.text)
        #expect(weak.isEmpty, "\(width) \(dark ? "dark" : "light"): \(weak)")
        // The charts take the new width a moment later.
        _ = try waitUntil {
          try page.value(PageScript.wideElements).list.isEmpty
            && page.value(PageScript.hasSidewaysScroll) == .bool(false)
        }
        let wide = try page.value(PageScript.wideElements).list.compactMap(\.text)
        #expect(wide.isEmpty, "\(width): \(wide)")
        #expect(try page.value(PageScript.hasSidewaysScroll) == .bool(false), "\(width)")
        let colour = try page.value("getComputedStyle(document.body).backgroundColor").text
        backgrounds.insert(colour ?? "")
      }
      #expect(backgrounds.count == 2)
      let motion =
        "getComputedStyle(document.querySelector('#connection'), '::before').animationName"
      #expect(try page.value(motion).text == "beat")
      try page.call(
        "Emulation.setEmulatedMedia",
        ["features": [["name": "prefers-reduced-motion", "value": "reduce"]]])
      #expect(try page.value(motion).text == "none")
      // Charts take their colours from the same place.
      try page.sees(
        "document.querySelector('#counts-chart').getAttribute('aria-label').includes('60')")
    }

    @Test func `the keyboard reaches every control in order, and the focus can be seen`() throws {
      let dashboard = try TestDashboard()
      try dashboard.publishVisits(0..<4)
      let page = try Browser().page(dashboard.url)
      try page.sees("document.querySelectorAll('#pipeline-table tbody tr').length > 1")
      try page.sees("#total", text: "6")
      let controls = try page.value(PageScript.controls).int ?? 0
      var names: [String] = []
      for number in 0..<controls {
        try page.press("Tab", code: 9)
        let focus = try page.value(PageScript.focus)
        names.append(focus["name"]?.text ?? "nothing")
        #expect(focus["number"]?.int == number, "\(names)")
        #expect(focus["isSeen"] == .bool(true), "\(names.last ?? "")")
      }
      #expect(controls > 15 && names.first == "A Skip to the numbers", "\(names)")
      // From the last back to the period, where arrows choose.
      _ = try page.value("document.querySelector('input[value=hour]').focus()")
      try page.press("ArrowRight", code: 39)
      #expect(try page.value("document.querySelector('input[value=day]').checked") == .bool(true))
      try page.sees("location.search === '?period=day'")
      let landmarks = try page.value(
        "['header', 'nav', 'main', 'footer', 'h1'].every((e) => document.querySelector(e))")
      #expect(landmarks == .bool(true))
      let unnamed = try page.value(
        "[...document.querySelectorAll('canvas, input, select')].filter((e) => "
          + "!e.getAttribute('aria-label') && !e.closest('label')).map((e) => e.id)")
      #expect(unnamed.list.isEmpty, "\(unnamed)")
    }

    @Test func `with a token the page asks for it once, and a wrong one shows nothing`() throws {
      let token = "correct horse battery"
      let folder = try TemporaryFolder()
      try (token + "\n").write(toFile: folder.file("token"), atomically: true, encoding: .utf8)
      let broker = try TestBroker()
      let aggregator = try TestAggregator(broker.bus, ["--token-file", folder.file("token")])
      #expect(try broker.publish(["--event", "Secret"]).status == .exited(0))
      let page = try Browser().page(aggregator.url + "/")
      try page.sees("location.pathname === '/login'")
      try page.type("wrong", into: "#token")
      try page.press("Enter", code: 13, text: "\r")
      try page.sees("document.querySelector('#wrong')?.checkVisibility()")
      #expect(try !page.text("body").contains("Secret"))
      try page.type(token, into: "#token")
      try page.press("Enter", code: 13, text: "\r")
      try page.sees("#names-table", text: "Secret")
      try page.sees("#connection", text: "Live")
      #expect(try page.value("document.cookie").text == "")
      #expect(!aggregator.process.errorOutput.text.contains(token))
      #expect(try aggregator.response("/api/live").status == "401")
    }

    @Test func `a page of another name cannot look through a visitor's browser`() throws {
      let dashboard = try TestDashboard()
      let foreign = try dashboard.aggregator.response("/api/reports", ["Host": "evil.example"])
      #expect(foreign.status == "403" && foreign.body.contains("--token"))
      #expect(
        try dashboard.aggregator.response("/healthz", ["Host": "evil.example"]).status == "200")
      let short = try Program.run([
        "aggregator", "--bus", dashboard.broker.bus, "--listen", "0.0.0.0:0", "--port-base", "0",
        "--token", "short",
      ])
      #expect(short.status == .exited(2) && short.errors.contains("--token has fewer than 16"))
    }
  }
}
