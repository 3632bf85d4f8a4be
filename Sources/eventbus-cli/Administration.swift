import BusClient
import ServiceRuntime

extension OptionDefinition {
  /// For scripts; a command that says more of its line has a help of its own.
  static let json = OptionDefinition.flag("json", help: "One line of JSON on stdout.")
}

/// What the commands that ask a running broker share.
enum Administration {
  static let options: [OptionDefinition] = [
    .json,
    .option("timeout", "TIME", help: "How long to wait for the bus.", default: "5s"),
  ]

  /// Runs `body` against the broker at `--bus`; what it meets becomes the command's exit code.
  ///
  /// - Parameter deadline: instead of `--timeout`.
  static func ask<R>(
    _ arguments: Arguments, within deadline: Duration? = nil,
    _ body: (inout BusAdministration) throws(BusClientError) -> R
  ) throws -> R {
    let address = try arguments.requiredText("bus")
    let timeout = try deadline ?? arguments.value("timeout", as: Duration.self)
    do throws(BusClientError) {
      var bus = try BusAdministration(address: address)
      bus.deadline = timeout
      return try body(&bus)
    } catch {
      switch error {
      case .timedOut:
        throw CommandFailure.unreachable(address, within: timeout)
      case .denied: throw CommandFailure(.failed, TerminalText.escape("\(error)"))
      case .refused(_, let text): throw CommandFailure(.failed, TerminalText.escape(text))
      case .configuration(let text): throw CommandFailure(.usage, text)
      default: throw CommandFailure(.failed, "\(error)")
      }
    }
  }
}
