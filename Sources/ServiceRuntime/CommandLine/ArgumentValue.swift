/// A type that option values are read as.
public protocol ArgumentValue: Sendable {
  /// Completes "must be …".
  static var expectation: String { get }
  /// Nil when the text is not of the form.
  init?(argument: String)
}

extension Int: ArgumentValue {
  public static var expectation: String { "a whole number" }
  public init?(argument: String) { self.init(argument) }
}

/// A number of bytes: `4096`, `64KiB`, `10GiB`, also `MB` for millions. At most 8 EiB - 1.
public struct ByteSize: ArgumentValue, Hashable, Comparable, CustomStringConvertible {
  public var bytes: Int
  public init(bytes: Int) { self.bytes = bytes }

  public static var expectation: String { "a size such as 4096, 64MiB or 10GiB" }

  public init?(argument: String) {
    guard let (number, unit) = QuantityText.split(argument) else { return nil }
    let factor: Int
    switch unit.lowercased() {
    case "", "b": factor = 1
    case "k", "kib": factor = 1 << 10
    case "m", "mib": factor = 1 << 20
    case "g", "gib": factor = 1 << 30
    case "t", "tib": factor = 1 << 40
    case "kb": factor = 1_000
    case "mb": factor = 1_000_000
    case "gb": factor = 1_000_000_000
    case "tb": factor = 1_000_000_000_000
    default: return nil
    }
    guard let bytes = QuantityText.scale(number, by: factor) else { return nil }
    self.bytes = bytes
  }

  public static func < (a: ByteSize, b: ByteSize) -> Bool { a.bytes < b.bytes }

  /// The largest unit that divides it: `64MiB`, `1000`.
  public var description: String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")]
    where bytes != 0 && bytes % (1 << shift) == 0 {
      return "\(bytes >> shift)\(unit)"
    }
    return "\(bytes)"
  }
}

/// `500ms`, `2s`, `10m`, `1h`, `7d`, `90us`; a plain number is seconds.
extension Duration: ArgumentValue {
  public static var expectation: String { "a duration such as 500ms, 2s, 10m or 7d" }

  public init?(argument: String) {
    guard let (number, unit) = QuantityText.split(argument) else { return nil }
    let nanoseconds: Int
    switch unit {
    case "ns": nanoseconds = 1
    case "us", "µs": nanoseconds = 1_000
    case "ms": nanoseconds = 1_000_000
    case "", "s": nanoseconds = 1_000_000_000
    case "m", "min": nanoseconds = 60_000_000_000
    case "h": nanoseconds = 3_600_000_000_000
    case "d": nanoseconds = 86_400_000_000_000
    case "w": nanoseconds = 604_800_000_000_000
    default: return nil
    }
    guard let total = QuantityText.scale(number, by: nanoseconds) else { return nil }
    self = .nanoseconds(total)
  }
}

/// Events a second: `1000`, `10k`, `1.5M`, also `600/m`.
public struct Rate: ArgumentValue, Hashable, Comparable, CustomStringConvertible {
  public var perSecond: Double
  public init(perSecond: Double) { self.perSecond = perSecond }

  public static var expectation: String { "a rate a second such as 1000, 50k or 600/m" }

  public init?(argument: String) {
    guard let (number, unit) = QuantityText.split(argument) else { return nil }
    let parts = unit.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    var factor: Double
    switch parts.first ?? "" {
    case "": factor = 1
    case "k": factor = 1_000
    case "M", "m": factor = 1_000_000
    default: return nil
    }
    if parts.count == 2 {
      switch parts[1] {
      case "s": break
      case "m": factor /= 60
      case "h": factor /= 3_600
      default: return nil
      }
    }
    guard let value = Double(number), value > 0, value.isFinite else { return nil }
    perSecond = value * factor
  }

  public static func < (a: Rate, b: Rate) -> Bool { a.perSecond < b.perSecond }
  public var description: String { "\(perSecond)/s" }
}

/// `127.0.0.1:7410`, `localhost:0`, `[::1]:80`.
public struct HostPort: ArgumentValue, Hashable, CustomStringConvertible {
  /// Without brackets.
  public var host: String
  public var port: UInt16

  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  public static var expectation: String { "HOST:PORT such as 127.0.0.1:7410" }

  public init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":"),
      let port = UInt16(argument[argument.index(after: colon)...])
    else { return nil }
    var host = argument[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: \.isWhitespace) else { return nil }
    self.init(host: String(host), port: port)
  }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// A decimal number and the unit behind it.
enum QuantityText {
  /// Nil unless the text begins with digits, with at most one point among them.
  static func split(_ text: String) -> (number: Substring, unit: Substring)? {
    let end =
      text.firstIndex { !($0.isASCII && ($0.isNumber || $0 == ".")) } ?? text.endIndex
    let number = text[..<end]
    guard number.first?.isNumber == true, number.last?.isNumber == true,
      number.count(where: { $0 == "." }) <= 1
    else { return nil }
    return (number, text[end...])
  }

  /// Exact for whole numbers; nil on overflow.
  static func scale(_ number: Substring, by factor: Int) -> Int? {
    if let whole = Int(number) {
      let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
      return overflow ? nil : product
    }
    guard let fraction = Double(number) else { return nil }
    return Int(exactly: (fraction * Double(factor)).rounded())
  }
}
