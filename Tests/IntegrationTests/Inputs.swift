import Foundation
import TestSupport

/// Inputs that lie beside the repository, where they are there. What a test cannot do without it makes
/// itself; the rest is told, so that a skipped test does not pass in silence.
enum Inputs {
  private static let shared = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("shared")

  /// The path of an input, or nil and a line that says that it is absent.
  static func path(_ name: String) -> String? {
    for folder in ["cases/inputs", "data"] {
      let path = shared.appendingPathComponent(folder).appendingPathComponent(name).path
      if FileManager.default.fileExists(atPath: path) { return path }
    }
    print("integration tests: ../shared has no \(name); what needs it is skipped")
    return nil
  }

  static func bytes(_ name: String) throws -> [UInt8]? {
    try path(name).map { Array(try Data(contentsOf: URL(fileURLWithPath: $0))) }
  }

  /// The lines of a file that gzip packed.
  static func unpacked(_ name: String) throws -> [String]? {
    guard let path = path(name) else { return nil }
    let (_, output, _) = try ChildProcess.run("gzip", ["-dc", path], limit: .seconds(60))
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  static func lines(_ name: String) throws -> [String]? {
    try bytes(name).map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }
}

/// Lines as a program writes them.
enum EventLine {
  static func track(
    _ name: String, id: String, properties: String = "{}", user: String = "u1"
  ) -> String {
    "{\"type\":\"track\",\"event\":\"\(name)\",\"userId\":\"\(user)\","
      + "\"timestamp\":\"2024-05-01T12:00:00.000Z\",\"messageId\":\"\(id)\","
      + "\"properties\":\(properties)}"
  }

  /// Twenty names and five thousand users, ids from `LOAD-000000` on.
  static func load(_ numbers: Range<Int>) -> String {
    var text = ""
    text.reserveCapacity(numbers.count * 160)
    for number in numbers {
      text += track(
        "Kind \(number * 7 % 20)", id: loadID(number), properties: "{\"n\":\(number)}",
        user: "u\(number * 13 % 5000)")
      text += "\n"
    }
    return text
  }

  static func loadID(_ number: Int) -> String {
    let digits = String(number)
    return "LOAD-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }
}
