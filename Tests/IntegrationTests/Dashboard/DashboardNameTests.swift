import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// One name, ten thousand names, and names that would like to be more than texts.
  @Suite(.enabled(if: Browser.isThere, "chromium is not installed"))
  struct DashboardNameTests {
    @Test func `ten thousand names are the top ones, the others as one, and found by search`()
      throws
    {
      let dashboard = try TestDashboard(reports: nil)
      var events = (0..<10_000).map { (name: "Name \($0)", user: "u\($0 % 7)", properties: "{}") }
      events += (0..<5).map { _ in (name: "Frequent Größe", user: "u1", properties: "{}") }
      try dashboard.publish(events)
      let page = try Browser().page(dashboard.url)
      try page.sees("#total", text: "10,005")
      #expect(try page.number("#name-count") == 10_001)
      #expect(try page.texts("#names-table tbody tr").count == 25)
      #expect(try page.texts("#names-table tbody th").first == "Frequent Größe")
      let other = try page.text("#names-table tfoot tr")
      #expect(other.contains("9,976 other names") && other.contains("9,976\t"))
      let nodes = try page.value("document.querySelectorAll('*').length").int ?? .max
      #expect(nodes < 2500, "\(nodes) elements")
      #expect(try page.value(PageScript.hasSidewaysScroll) == .bool(false))
      try page.type("NAME 98", into: "#search")
      // 98, 980 to 989, 9800 to 9899.
      try page.sees("#names-note", text: "111 names have")
      #expect(try page.texts("#names-table tbody th").allSatisfy { $0.hasPrefix("Name 98") })
      _ = try page.value("document.querySelector('#search').select()")
      try page.call("Input.insertText", ["text": "grÖSSe"])
      try page.sees("#names-note", text: "No name has")
      _ = try page.value("document.querySelector('#search').select()")
      try page.call("Input.insertText", ["text": "GRÖß"])
      try page.sees("#names-note", text: "1 name has")
      #expect(try page.texts("#names-table tbody th") == ["Frequent Größe"])
      _ = try page.value(
        "document.querySelector('#search').value = ''; "
          + "document.querySelector('#search').dispatchEvent(new Event('input'))")
      try page.sees("#names-table tfoot tr", text: "9,976 other names")
      _ = try page.value("document.querySelector('#names-more').click()")
      try page.sees("document.querySelectorAll('#names-table tbody tr').length === 50")
    }

    @Test func `one name of one event is enough`() throws {
      let dashboard = try TestDashboard(reports: nil)
      try dashboard.publish([(name: "Only", user: "u", properties: "{}")])
      let page = try Browser().page(dashboard.url)
      try page.sees("#total", text: "1")
      #expect(try page.texts("#names-table tbody th") == ["Only"])
      #expect(try page.text("#names-table tfoot").isEmpty)
      #expect(try page.text("#breakdown-note").contains("No report breaks events down"))
      #expect(try page.text("#funnel-note").contains("No report is a funnel"))
      #expect(try page.text("#quantiles-note").contains("No report has quantiles"))
      #expect(page.complaints.isEmpty, "\(page.complaints)")
    }

    @Test func `names are texts whatever is in them, and no layout breaks`() throws {
      let dashboard = try TestDashboard(
        reports: #"{"reports": [{"name": "odd", "by": ["properties.<b>x</b>"], "window": "hour"}]}"#
      )
      let names = [
        "<img src=x onerror=\"window.wasRun = 1\">", "</script><script>window.wasRun = 1</script>",
        "a\u{202E}txt.exe", "line\nbreak\u{7}", "\u{200F}right", "__proto__", "constructor",
        String(repeating: "W", count: 200), "مرحبا", "{{7*7}}", "\"quoted\" & 'so'",
      ]
      try dashboard.publish(
        names.map { (name: $0, user: "u", properties: "{\"<b>x</b>\":\(BrowserPage.quoted($0))}") })
      let page = try Browser().page(dashboard.url, width: 360, height: 700)
      try page.sees("#total", text: "11")
      try page.sees("document.querySelectorAll('#live-names li').length === 11")
      let shown = Set(try page.texts("#names-table tbody th"))
      for name in [
        names[0], names[1], "__proto__", "constructor", names[7], "مرحبا", names[9], names[10],
      ] {
        #expect(shown.contains(name), "\(name)")
      }
      #expect(shown.isSuperset(of: ["a\\u202Etxt.exe", "line\\u000Abreak\\u0007", "\\u200Fright"]))
      #expect(try page.value("window.wasRun ?? null") == .null)
      #expect(try page.value("document.querySelectorAll('img').length").int == 1)
      #expect(try page.value("document.querySelectorAll('main b, main script').length").int == 0)
      #expect(try page.value(PageScript.hasSidewaysScroll) == .bool(false))
      #expect(page.complaints.isEmpty, "\(page.complaints)")
    }
  }
}
