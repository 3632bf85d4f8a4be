import Primitives
import ServiceRuntime

/// The ports that belong together, by their distance from the bus's.
struct ServicePorts {
  let base: Int

  init(_ arguments: Arguments) throws(UsageError) {
    base = try arguments.value("port-base", in: 0...65_000)
  }

  /// For who looks at services: without a base of its own it is the bus's port, where that is on this machine.
  init(beside bus: String, _ arguments: Arguments) throws(UsageError) {
    guard !arguments.isGiven("port-base"), let place = BusEnvironment.place(ofBus: bus),
      Loopback.contains(place.host)
    else {
      self = try ServicePorts(arguments)
      return
    }
    base = Int(place.port)
  }

  /// Which bus to use: the one that was named, else the one at the base.
  func bus(_ arguments: Arguments) throws(UsageError) -> String {
    if arguments.isGiven("bus") || base == 0 { return try arguments.requiredText("bus") }
    return "tcp://127.0.0.1:\(base)"
  }

  /// With a base of 0 the system chooses each.
  func address(_ distance: Int, host: String = "127.0.0.1") -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return base == 0 ? "tcp://\(host):*" : "tcp://\(host):\(base + distance)"
  }

  /// Where the service's health answers: what was given, else the service's usual port.
  func metrics(_ arguments: Arguments, distance: Int) throws(UsageError) -> HostPort {
    let usual = HostPort(host: "127.0.0.1", port: base == 0 ? 0 : UInt16(base + distance))
    let metrics = try arguments.optional("metrics", as: HostPort.self) ?? usual
    // Nobody is asked for a key there.
    try Self.requireLoopback(metrics.host, "--metrics \(metrics)", arguments)
    return metrics
  }

  /// What other machines can reach asks them for a key, or is said to be open.
  static func requireLoopback(
    _ host: String, _ option: String, _ arguments: Arguments, otherwise: String = ""
  ) throws(UsageError) {
    guard !Loopback.contains(host), !arguments.flag("insecure") else { return }
    throw UsageError(
      "\(option) is open to other machines: "
        + (otherwise.isEmpty ? "" : "\(otherwise), ") + "listen on 127.0.0.1, or say --insecure")
  }
}
