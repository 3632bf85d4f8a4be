/// The name of a kind of event, and the namespace of the typed events: `EventType.GameStarted(...)`.
///
/// Open: any module adds its own in an extension, and a name that no program knows is a value like any
/// other. Two names are equal when their UTF-8 is, byte for byte; `String` would take two spellings of
/// `é` for one name, and the bus does not.
public struct EventType: RawRepresentable, Sendable, Codable {
  public let rawValue: String
  private let names: DestinationNames?

  public init(rawValue: String) {
    self.rawValue = rawValue
    names = nil
  }

  public init(_ name: String) { self.init(rawValue: name) }

  /// A type that has other names at some destinations. They take no part in equality.
  public init(_ name: String, segmentName: String? = nil, gameAnalyticsName: String? = nil) {
    rawValue = name
    names = DestinationNames(segment: segmentName, gameAnalytics: gameAnalyticsName)
  }

  /// What Segment and its like get: the raw value, unless the type has another name there.
  public var segmentName: String { names?.segment ?? rawValue }

  /// What GameAnalytics gets: lower case with `:` for blanks, as `game:started`, unless the type has
  /// another name there. Whether the destination takes it, its publisher checks.
  public var gameAnalyticsName: String {
    names?.gameAnalytics
      ?? String(String.UnicodeScalarView(rawValue.lowercased().unicodeScalars.map(\.colonForBlank)))
  }

  private final class DestinationNames: Sendable {
    let segment: String?
    let gameAnalytics: String?

    init(segment: String?, gameAnalytics: String?) {
      self.segment = segment
      self.gameAnalytics = gameAnalytics
    }
  }
}

extension EventType: Hashable {
  public static func == (a: EventType, b: EventType) -> Bool { a.rawValue.hasSameBytes(b.rawValue) }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: rawValue) }
}

extension EventType: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral value: String) { self.init(rawValue: value) }
  public var description: String { rawValue }
}

extension Unicode.Scalar {
  fileprivate var colonForBlank: Unicode.Scalar { self == " " ? ":" : self }
}

extension String {
  /// Equality of UTF-8, where `==` compares by canonical equivalence.
  func hasSameBytes(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Hasher {
  mutating func combine(bytesOf text: String) {
    for byte in text.utf8 { combine(byte) }
    combine(UInt8(0xFF))
  }
}
