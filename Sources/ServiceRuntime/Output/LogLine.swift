internal import Primitives

/// How grave a log line is.
public enum LogLevel: Int, Comparable, CaseIterable, Sendable {
  case trace, debug, info, warning, error

  public init?(name: String) {
    guard let level = LogLevel.allCases.first(where: { $0.name == name }) else { return nil }
    self = level
  }

  public var name: String {
    switch self {
    case .trace: "trace"
    case .debug: "debug"
    case .info: "info"
    case .warning: "warning"
    case .error: "error"
    }
  }

  public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// A named value beside a log message.
public struct LogField: Hashable, Sendable {
  public var key: String
  public var value: JSONText

  public init(_ key: String, _ value: JSONText) {
    self.key = key
    self.value = value
  }

  /// A field with whatever the value is described as.
  public init(_ key: String, describing value: some CustomStringConvertible) {
    self.init(key, .text(value.description))
  }
}

public enum LogFormat: String, Sendable {
  case text, json
}

/// One line of the log, before it is written.
struct LogLine {
  var level: LogLevel
  /// The part of the program that speaks; may be empty.
  var label: String
  var message: String
  var fields: [LogField]
  /// News even when it was said before: never counted instead of written.
  var isChange = false

  /// `time` is nanoseconds since 1970. The line ends with a newline and has no other.
  func formatted(_ format: LogFormat, time: Int64, isColoured: Bool) -> [UInt8] {
    switch format {
    case .json: json(time: time)
    case .text: text(time: time, isColoured: isColoured)
    }
  }

  private func json(time: Int64) -> [UInt8] {
    var members: [JSONText.Member] = [
      .init("time", .text(Timestamp(nanoseconds: time).text)), .init("level", .text(level.name)),
    ]
    if !label.isEmpty { members.append(.init("service", .text(label))) }
    members.append(.init("message", .text(message)))
    members += fields.map { .init($0.key, $0.value) }
    return JSONText.object(members).utf8 + [UInt8(ascii: "\n")]
  }

  private func text(time: Int64, isColoured: Bool) -> [UInt8] {
    let padding = String(repeating: " ", count: 7 - level.name.count)
    var line = Timestamp(nanoseconds: time).text + " "
    line += isColoured ? "\u{1B}[\(colour)m\(level.name)\u{1B}[0m" : level.name
    line += padding + " "
    if !label.isEmpty { line += TerminalText.escape(label) + ": " }
    line += TerminalText.escape(message)
    for field in fields {
      line += " " + TerminalText.escape(field.key) + "=" + Self.value(field.value)
    }
    return Array(line.utf8) + [UInt8(ascii: "\n")]
  }

  /// Text without quotes where that reads back unambiguously.
  private static func value(_ value: JSONText) -> String {
    guard case .text(let text) = value else { return value.description }
    let needsQuotes =
      text.isEmpty || text.unicodeScalars.contains { $0 == " " || $0 == "=" || $0 == "\"" }
    return needsQuotes ? value.description : TerminalText.escape(text)
  }

  private var colour: Int {
    switch level {
    case .trace, .debug: 90
    case .info: 32
    case .warning: 33
    case .error: 31
    }
  }
}
