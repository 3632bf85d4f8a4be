import BusBroker
import BusClient
import HTTPServer
import Primitives
import ServiceRuntime

/// A command's end with a message and an exit code of its own.
struct CommandFailure: Error {
  var code: ExitCode
  var text: String
  /// Another start would end the same way; `up` then does not try.
  var isFinal = false

  init(_ code: ExitCode, _ text: String) {
    self.code = code
    self.text = text
  }

  /// Whether something is there; what this user may not see is not taken for missing.
  static func isThere(_ path: String) throws -> Bool {
    do throws(SystemError) { return try Folders.isThere(path) } catch {
      throw CommandFailure(.failed, "\(error): run it as the user who owns it")
    }
  }

  /// A directory that was typed and is not there is a slip, where one that is usual may be missing.
  static func checkTyped(_ options: [String], _ arguments: Arguments) throws {
    for option in options where arguments.isTyped(option) {
      let path = try arguments.requiredText(option)
      guard try isThere(path) else {
        throw CommandFailure(.failed, "--\(option): there is no directory \(path)")
      }
    }
  }

  /// Nobody answered at the bus's address.
  ///
  /// - Parameter before: what could not be done for that.
  static func unreachable(
    _ address: String, within timeout: Duration, _ before: String = ""
  ) -> CommandFailure {
    CommandFailure(
      .busUnreachable,
      "\(before)no answer from \(address) within \(timeout): \(BusHost.whySilent(address))")
  }

  /// A service that cannot listen. A port that somebody has is his until a person does something.
  ///
  /// - Parameter option: what gave the address, as `--metrics 127.0.0.1:7404`.
  init(_ option: String, _ error: HTTPServerError) {
    self.init(.failed, "\(option): \(error)")
    if case .addressInUse(_, let port) = error { name(holderOf: port) }
  }

  init(_ error: BrokerError) {
    switch error.kind {
    case .directoryInUse: self.init(.dataDirectoryInUse, "\(error)")
    case .disk: self.init(.diskError, "\(error)")
    case .keys, .other: self.init(.failed, "\(error)")
    case .addressInUse(let port):
      self.init(.failed, "\(error)")
      name(holderOf: port)
    }
  }

  private mutating func name(holderOf port: UInt16) {
    isFinal = true
    text += PortHolder.describe(port: port).map { "; \($0) has it" } ?? ""
  }
}
