/// A path's or a pattern's text, taken apart; what its characters mean is kept apart from what they are.
struct PathTextParts {
  /// Text of one name or value.
  struct Text {
    var units: ArraySlice<UInt16>
    /// The byte of the whole text at which it begins.
    var start: Int
    var maximumBytes: Int
  }

  enum Index {
    case number(Int)
    case any
  }

  struct SegmentPart {
    var name: Text
    var index: Index?
    var isRun: Bool
    var start: Int
  }

  private(set) var action = Text(units: [], start: 0, maximumBytes: 0)
  private(set) var segments: [SegmentPart] = []
  private(set) var state: [(name: Text, value: Text)] = []

  /// Bytes as they are, and above 255 those that nothing has taken their meaning from.
  private static func special(_ character: Unicode.Scalar) -> UInt16 {
    256 + UInt16(UInt8(ascii: character))
  }
  private static let hash = special("#")
  private static let star = special("*")
  private static let run = [UInt16](repeating: special("."), count: 3)

  init(_ text: String) throws(EventPathError) {
    let (units, starts) = try Self.units(text)
    guard units.first == Self.hash else { throw EventPathError(.noStart, at: 0) }
    guard let colon = units.firstIndex(of: Self.special(":")),
      !units[1..<colon].contains(Self.hash)
    else { throw EventPathError(.noAction, at: starts[0]) }
    action = try Self.name(units[1..<colon], at: starts[1])
    var at = colon + 1
    while at < units.count {
      guard units[at] == Self.hash else { throw EventPathError(.noSegment, at: starts[at]) }
      let end = units[(at + 1)...].firstIndex(of: Self.hash) ?? units.count
      try take(units[(at + 1)..<end], at: at + 1 < starts.count ? starts[at + 1] : starts[at])
      at = end
    }
  }

  private static func units(_ text: String) throws(EventPathError) -> ([UInt16], [Int]) {
    let bytes = text.utf8
    guard bytes.count <= EventPathLimits.maximumBytes else {
      throw EventPathError(
        .tooLong(maximum: EventPathLimits.maximumBytes), at: EventPathLimits.maximumBytes)
    }
    var units: [UInt16] = []
    var starts: [Int] = []
    units.reserveCapacity(bytes.count)
    starts.reserveCapacity(bytes.count)
    var isEscaped = false
    for (position, byte) in bytes.enumerated() {
      if byte == 0 { throw EventPathError(.containsNUL, at: position) }
      if isEscaped {
        guard isSpecial(byte) else { throw EventPathError(.escape, at: position) }
        units.append(UInt16(byte))
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
        starts.append(position)
      } else {
        units.append(isSpecial(byte) ? 256 + UInt16(byte) : UInt16(byte))
        starts.append(position)
      }
    }
    if isEscaped { throw EventPathError(.escape, at: bytes.count) }
    return (units, starts)
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "#"), UInt8(ascii: "["), UInt8(ascii: "="), UInt8(ascii: ":"),
      UInt8(ascii: "*"), UInt8(ascii: "."), UInt8(ascii: "\\"):
      true
    default: false
    }
  }

  private static func name(
    _ units: ArraySlice<UInt16>, at start: Int
  ) throws(EventPathError) -> Text {
    guard !units.isEmpty else { throw EventPathError(.emptyName, at: start) }
    guard units.count <= EventPathLimits.maximumNameBytes else {
      throw EventPathError(.tooLong(maximum: EventPathLimits.maximumNameBytes), at: start)
    }
    return Text(units: units, start: start, maximumBytes: EventPathLimits.maximumNameBytes)
  }

  private mutating func take(
    _ units: ArraySlice<UInt16>, at start: Int
  ) throws(EventPathError) {
    if let equals = units.firstIndex(of: Self.special("=")) {
      guard state.count < EventPathLimits.maximumStates else {
        throw EventPathError(.tooManyStates, at: start)
      }
      let value = units[(equals + 1)...]
      guard value.count <= EventPathLimits.maximumValueBytes else {
        throw EventPathError(.tooLong(maximum: EventPathLimits.maximumValueBytes), at: start)
      }
      state.append(
        (
          try Self.name(units[..<equals], at: start),
          Text(units: value, start: start, maximumBytes: EventPathLimits.maximumValueBytes)
        ))
      return
    }
    guard state.isEmpty else { throw EventPathError(.segmentAfterState, at: start) }
    guard segments.count < EventPathLimits.maximumSegments else {
      throw EventPathError(.tooManySegments, at: start)
    }
    segments.append(try Self.segment(units, at: start))
  }

  private static func segment(
    _ units: ArraySlice<UInt16>, at start: Int
  ) throws(EventPathError) -> SegmentPart {
    let isRun = units.elementsEqual(run)
    guard let bracket = units.firstIndex(of: special("[")) else {
      return SegmentPart(
        name: try name(units, at: start), index: nil, isRun: isRun, start: start)
    }
    let name = try name(units[..<bracket], at: start)
    let digits = units[(bracket + 1)...].dropLast()
    guard units.last == UInt16(UInt8(ascii: "]")), !digits.isEmpty, digits.count <= 9 else {
      throw EventPathError(.index, at: start)
    }
    if digits.elementsEqual([star]) {
      return SegmentPart(name: name, index: .any, isRun: false, start: start)
    }
    var number = 0
    for digit in digits {
      guard 48...57 ~= digit else { throw EventPathError(.index, at: start) }
      number = 10 * number + Int(digit - 48)
    }
    if digits.count > 1, digits.first == 48 { throw EventPathError(.index, at: start) }
    return SegmentPart(name: name, index: .number(number), isRun: false, start: start)
  }
}

extension PathTextParts.Text {
  private static let star = 256 + UInt16(UInt8(ascii: "*"))

  var hasWildcard: Bool { units.contains(Self.star) }

  /// The text where no wildcard is allowed.
  func literal() throws(EventPathError) -> String {
    if hasWildcard { throw EventPathError(.wildcard, at: start) }
    return String(decoding: units.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }

  /// `*` stands for any run of characters.
  var pattern: EventPattern {
    guard hasWildcard else {
      return EventPattern(exact: units.map { UInt8(truncatingIfNeeded: $0) })
    }
    var glob: [UInt8] = []
    for unit in units {
      let byte = UInt8(truncatingIfNeeded: unit)
      if unit != Self.star, byte == UInt8(ascii: "*") || byte == UInt8(ascii: "\\") {
        glob.append(UInt8(ascii: "\\"))
      }
      glob.append(byte)
    }
    return EventPattern(glob: glob)
  }
}
