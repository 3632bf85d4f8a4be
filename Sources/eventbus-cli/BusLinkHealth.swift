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
}
