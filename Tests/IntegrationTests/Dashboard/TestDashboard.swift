import Foundation
import TestSupport
import Testing

/// A broker, an aggregator with reports of each kind, and what the page shows of them.
final class TestDashboard {
  let broker: TestBroker
  let aggregator: TestAggregator
  private(set) var published = 0

  static let reports = """
    {"reports": [
      {"name": "by-plan", "title": "Orders by plan", "exact": ["Ordered"], "by": ["properties.plan"],
       "measures": ["count"], "window": "hour"},
      {"name": "purchase", "title": "From visit to order", "window": "day", "within": "1h",
       "funnel": [{"exact": "Visited"}, {"exact": "Ordered"}]},
      {"name": "prices", "title": "Prices", "exact": ["Ordered"], "window": "minute",
       "measures": [{"quantiles": "properties.price", "at": [0.5, 0.9]}]}
    ]}
    """

  init(reports: String? = TestDashboard.reports, _ options: [String] = []) throws {
    broker = try TestBroker()
    aggregator = try TestAggregator(broker.bus, reports: reports, options)
  }

  var url: String { aggregator.url + "/" }

  /// Publishes events of now and waits until they are counted and stored.
  func publish(_ events: [(name: String, user: String, properties: String)]) throws {
    let lines = events.map { event in
      "{\"type\":\"track\",\"event\":\(BrowserPage.quoted(event.name)),"
        + "\"userId\":\"\(event.user)\",\"properties\":\(event.properties)}"
    }
    let run = try broker.publish(lines: lines)
    try #require(run.status == .exited(0), "\(run.errors)")
    published += events.count
    _ = try aggregator.status(at: published)
  }

  /// Visits of so many users, of whom every second orders; plans and prices go round.
  func publishVisits(_ users: Range<Int>) throws {
    var events: [(name: String, user: String, properties: String)] = []
    for user in users {
      events.append(("Visited", "u\(user)", "{}"))
      guard user % 2 == 0 else { continue }
      let plan = ["free", "pro", "team"][user / 2 % 3]
      events.append(("Ordered", "u\(user)", "{\"plan\":\"\(plan)\",\"price\":\(user * 3 % 100)}"))
    }
    try publish(events)
  }
}

/// Functions for pages: what a person could see, measured.
enum PageScript {
  /// Texts whose contrast to what lies under them is less than 4.5 : 1.
  static let weakTexts = """
    (() => {
      const parse = (text) => { const c = text.match(/[\\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c; };
      const over = (a, b) => a.slice(0, 3).map((v, i) => v * a[3] + b[i] * (1 - a[3]));
      const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255;
        return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const under = (e) => { const all = [];
        for (let at = e; at; at = at.parentElement) all.push(parse(getComputedStyle(at).backgroundColor));
        return all.reverse().reduce((below, above) => over(above, below), [255, 255, 255]); };
      const weak = [];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !e.checkVisibility({visibilityProperty: true})) continue;
        if (["SCRIPT", "NOSCRIPT", "OPTION"].includes(e.tagName)) continue;
        const back = under(e), front = over(parse(getComputedStyle(e).color), back);
        const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
        const contrast = (a + 0.05) / (b + 0.05);
        if (contrast < 4.5) weak.push(`${contrast.toFixed(2)} ${e.className} ${walker.currentNode.data.trim()}`);
      }
      return weak;
    })()
    """

  /// Elements that reach beyond the right edge, but for those inside what scrolls by itself.
  static let wideElements = """
    [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility()
      && e.getBoundingClientRect().right > innerWidth + 1
      && !e.closest(".scroll, .as-table, pre, .skip")).map((e) => `${e.tagName} ${e.id} ${e.className}`)
    """

  static let hasSidewaysScroll = "document.documentElement.scrollWidth > innerWidth"

  /// What the Tab key should reach: every control that is visible.
  static let controls = """
    [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
      .filter((e) => e.checkVisibility() && (e.type !== "radio" || e.checked)).length
    """

  /// Where the focus is, and whether that can be seen.
  static let focus = """
    (() => { const e = document.activeElement;
      if (!e || e === document.body) return null;
      const shown = e.type === "radio" ? e.nextElementSibling : e;
      const style = getComputedStyle(shown);
      window.focusNumber ??= new Map();
      if (!focusNumber.has(e)) focusNumber.set(e, focusNumber.size);
      return { number: focusNumber.get(e), name: `${e.tagName} ${e.id || e.textContent.trim().slice(0, 30)}`,
        isSeen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
    })()
    """
}
