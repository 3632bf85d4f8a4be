import ServiceRuntime

/// The ports that belong together, by their distance from the bus's.
struct ServicePorts {
  let base: Int

  init(_ arguments: Arguments) throws(UsageError) {
    base = try arguments.value("port-base", in: 0...65_000)
  }

  /// With a base of 0 the system chooses each.
  func address(_ distance: Int) -> String {
    base == 0 ? "tcp://127.0.0.1:*" : "tcp://127.0.0.1:\(base + distance)"
  }

  /// Where the service's health answers: what was given, else the service's usual port.
  func metrics(_ arguments: Arguments, distance: Int) throws(UsageError) -> HostPort {
    let usual = HostPort(host: "127.0.0.1", port: base == 0 ? 0 : UInt16(base + distance))
    return try arguments.optional("metrics", as: HostPort.self) ?? usual
  }
}
