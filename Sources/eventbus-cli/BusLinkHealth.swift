import BusClient
import Primitives
import ServiceRuntime

/// What every service says of its connection to the bus, in the same words.
enum BusLinkHealth {
  /// `bus` of `/status`: `connecting`, `connected`, `absent` or `denied`, and what is wrong.
  static func json(_ link: BusLink) -> JSONText {
    .object([.init("state", .text(link.state.rawValue)), .init("trouble", .text(link.trouble))])
  }

  static func metric(
    _ service: String, _ link: BusLink, _ labels: [Metric.Label] = []
  ) -> Metric {
    Metric(
      "\(service)_bus_state", .gauge,
      help: "1 for the state of the connection to the bus; absent: no answer for five seconds.",
      samples: BusLink.State.allCases.map {
        .init($0 == link.state ? 1 : 0, labels + [.init("state", $0.rawValue)])
      })
  }

  static func note(_ report: BusReport, _ log: Log) {
    log.note(report.level == .info ? .info : .warning, report.key, report.text)
  }
}

extension Log {
  /// A service's news under its key. What the bus does is told each time: every line is another state.
  func note(_ level: LogLevel, _ key: String, _ text: String) {
    let field = LogField("event", .text(key))
    if key.hasPrefix("bus."), key != "bus.waiting" { return change(level, text, field) }
    switch level {
    case .error: error(text, field)
    case .warning: warning(text, field)
    default: info(text, field)
    }
  }
}
