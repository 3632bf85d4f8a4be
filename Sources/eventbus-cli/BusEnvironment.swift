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

  /// A base that is no port is told, where the bus is to be found by it: 7400 would be another one's.
  static func check(
    _ environment: [String: String], for arguments: Arguments
  ) throws(UsageError) {
    let name = "EVENTBUS_PORT_BASE"
    let command = arguments.command
    guard let text = environment[name], !text.isEmpty,
      // A command with the option reads and checks the variable itself.
      command.option("port-base") == nil,
      command.option("bus")?.isReadFromEnvironment == true, !arguments.isGiven("bus")
    else { return }
    guard let base = Int(text) else {
      throw UsageError("\(name) (for --port-base) must be \(Int.expectation), not '\(text)'")
    }
    guard (0...65_000).contains(base) else {
      throw UsageError("\(name) (for --port-base) must be from 0 to 65000, not \(base)")
    }
  }

  /// libzmq takes what nobody can ever reach, as port 99999, and then the bus would seem to be away.
  static func checkAddress(_ arguments: Arguments) throws(UsageError) {
    guard arguments.command.option("bus") != nil, let address = arguments.text("bus") else {
      return
    }
    let isPath = address.hasPrefix("ipc://") && address.utf8.count > "ipc://".utf8.count
    // A source address may stand before the bus's, with a semicolon behind it.
    let target = address.split(separator: ";").last.map(String.init) ?? ""
    let isPlace =
      address.hasPrefix("tcp://")
      && place(ofBus: target.hasPrefix("tcp://") ? target : "tcp://" + target).map { $0.port > 0 }
        ?? false
    guard isPath || isPlace else {
      throw UsageError(
        "--bus: '\(address)' is no address of a bus: it reads like tcp://127.0.0.1:7400")
    }
  }

  /// Where a bus listens; nil for what is not TCP.
  static func place(ofBus address: String) -> HostPort? {
    let scheme = "tcp://"
    return address.hasPrefix(scheme)
      ? HostPort(argument: String(address.dropFirst(scheme.count))) : nil
  }
}
