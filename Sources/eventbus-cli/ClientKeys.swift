import BusClient
import Primitives
import ServiceRuntime

/// `--curve-key` and `--server-key`: what this process shows to a bus that asks for keys.
enum ClientKeys {
  /// Commands that work on files, or only start others: the environment's keys are not theirs.
  private static let without: Set<String> = ["broker", "up", "journal", "keys"]

  static func use(_ arguments: Arguments) throws {
    let word = arguments.command.name.split(separator: " ").first.map(String.init) ?? ""
    guard !without.contains(word) else { return }
    // A broker of its own asks for none.
    if word == "bench", arguments.text("bus") == nil { return }
    switch (arguments.text("curve-key"), arguments.text("server-key")) {
    case (nil, nil): return
    case (let file?, let server?):
      BusSecurity.ofProcess = try BusSecurity(keyFile: file, serverKey: server)
    default: throw UsageError("--curve-key and --server-key go together; one is missing")
    }
  }

  /// The same for the environment of processes that a command starts.
  static func variables(_ arguments: Arguments) -> [String: String] {
    var variables: [String: String] = [:]
    variables["EVENTBUS_CURVE_KEY"] = arguments.text("curve-key")
    variables["EVENTBUS_SERVER_KEY"] = arguments.text("server-key")
    return variables
  }
}

/// A file with a secret in it: refused when others may read it.
enum SecretFile {
  static func read(_ path: String, option: String) throws(UsageError) -> [UInt8] {
    do throws(PrivateFile.Failure) {
      return try PrivateFile.read(path)
    } catch {
      throw UsageError("--\(option): \(error)")
    }
  }
}
