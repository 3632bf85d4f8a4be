import Primitives
import ServiceRuntime

/// Says that a service can be used: the one line on stdout, and the service manager if there is one.
enum Readiness {
  static func announce(
    _ addresses: [(key: String, value: String)], _ context: Commands.Context
  ) throws(SystemError) {
    Terminal.output("\(ReadyLine(addresses))\n")
    try ServiceManager(environment: context.environment).ready()
  }
}

/// Each connection is a file: the limit is raised as far as the system allows.
enum FileLimit {
  static func raise() { FileReserve.keep() }
}
