import Primitives
import ServiceRuntime

/// One setting is enough for all of a machine: whoever has moved the ports by `EVENTBUS_PORT_BASE`, or named the
/// bus, has said where the rest of it stands.
enum BusEnvironment {
  /// With the bus's address where only the ports' base is given. A base on the command line decides by itself.
  static func completed(_ environment: [String: String], for words: [String]) -> [String: String] {
    let names = ["EVENTBUS_URL", "EVENTBUS_BUS"]
    guard let base = environment["EVENTBUS_PORT_BASE"].flatMap(UInt16.init), base > 0,
      names.allSatisfy({ environment[$0]?.isEmpty != false }),
      !words.contains(where: { $0 == "--port-base" || $0.hasPrefix("--port-base=") })
    else { return environment }
    return environment.merging([names[0]: "tcp://127.0.0.1:\(base)"]) { $1 }
  }

  /// Where a bus listens; nil for what is not TCP.
  static func place(ofBus address: String) -> HostPort? {
    let scheme = "tcp://"
    return address.hasPrefix(scheme)
      ? HostPort(argument: String(address.dropFirst(scheme.count))) : nil
  }
}
