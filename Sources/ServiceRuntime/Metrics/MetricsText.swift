/// A set of measurements of one name, as Prometheus takes them.
public struct Metric: Hashable, Sendable {
  public enum Kind: String, Sendable { case counter, gauge }

  public struct Label: Hashable, Sendable {
    public var name: String
    public var value: String
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  public struct Sample: Hashable, Sendable {
    public var labels: [Label]
    public var value: Double
    public init(_ value: Double, _ labels: [Label] = []) {
      self.value = value
      self.labels = labels
    }
  }

  /// `eventbus_events_total`: letters, digits and underscores.
  public var name: String
  public var kind: Kind
  public var help: String
  public var samples: [Sample]

  /// Traps on a name Prometheus does not take: names are ours, never an event's.
  public init(_ name: String, _ kind: Kind, help: String, samples: [Sample]) {
    precondition(MetricsText.isName(name), "not a metric name: \(name)")
    for label in samples.lazy.flatMap(\.labels) {
      precondition(MetricsText.isName(label.name), "not a label name: \(label.name)")
    }
    self.name = name
    self.kind = kind
    self.help = help
    self.samples = samples
  }

  public static func counter(_ name: String, help: String, _ value: Int) -> Metric {
    Metric(name, .counter, help: help, samples: [Sample(Double(value))])
  }

  public static func gauge(_ name: String, help: String, _ value: Double) -> Metric {
    Metric(name, .gauge, help: help, samples: [Sample(value)])
  }
}

/// The text exposition format of Prometheus, version 0.0.4:
///
///     # HELP name text        backslash and newline escaped
///     # TYPE name counter
///     name{label="value"} 3   in values backslash, quote and newline escaped
public enum MetricsText {
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// A metric without samples keeps its two head lines: what there will be can be seen from the start.
  public static func format(_ metrics: [Metric]) -> String {
    var text = ""
    for metric in metrics {
      text += "# HELP \(metric.name) \(escape(metric.help, quotes: false))\n"
      text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
      for sample in metric.samples {
        text += metric.name
        if !sample.labels.isEmpty {
          let pairs = sample.labels.map { "\($0.name)=\"\(escape($0.value, quotes: true))\"" }
          text += "{" + pairs.joined(separator: ",") + "}"
        }
        text += " \(number(sample.value))\n"
      }
    }
    return text
  }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return String(whole) }
    return value.description
  }

  private static func escape(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
      default: false
      }
    }
  }
}
