// A path as text:
//
//   #ACTION:#SENDER#NAME[INDEX]#NAME...#STATE=VALUE...
//
//   ACTION, SENDER, NAME, STATE   1 to 200 bytes of UTF-8
//   INDEX                         decimal, without leading zeros; views have one, others none
//   VALUE                         0 to 256 bytes
//   state stands behind all segments
//
// `\` takes the meaning from the next character: `#`, `[`, `=`, `*` and `\` are written so everywhere,
// `:` in the action. A name that is `...` is written `\...`. U+0000 is refused. A path's text is thus
// also the pattern that matches just this path.

extension EventPath: CustomStringConvertible, LosslessStringConvertible {
  /// - Returns: nil where `init(parsing:)` throws.
  public init?(_ description: String) {
    do {
      try self.init(parsing: description)
    } catch {
      return nil
    }
  }

  /// The same as ``text``.
  public var description: String { text }

  /// The text above. Costs some microseconds.
  public var text: String {
    var utf8: [UInt8] = []
    utf8.reserveCapacity(256)
    utf8.append(UInt8(ascii: "#"))
    Self.write(action, escaping: ":", to: &utf8)
    utf8.append(UInt8(ascii: ":"))
    for segment in segments {
      utf8.append(UInt8(ascii: "#"))
      if segment.name == "..." { utf8.append(UInt8(ascii: "\\")) }
      Self.write(segment.name, to: &utf8)
      if let index = segment.index { utf8 += Array("[\(index)]".utf8) }
    }
    for item in state {
      utf8.append(UInt8(ascii: "#"))
      Self.write(item.name, to: &utf8)
      utf8.append(UInt8(ascii: "="))
      Self.write(item.value, to: &utf8)
    }
    return String(decoding: utf8, as: UTF8.self)
  }

  private static func write(
    _ text: String, escaping other: Unicode.Scalar = "#", to utf8: inout [UInt8]
  ) {
    for byte in text.utf8 {
      if isSpecial(byte) || byte == UInt8(ascii: other) { utf8.append(UInt8(ascii: "\\")) }
      utf8.append(byte)
    }
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "#"), UInt8(ascii: "["), UInt8(ascii: "="), UInt8(ascii: "*"),
      UInt8(ascii: "\\"):
      true
    default: false
    }
  }

  /// Bytes that a name or a value has at most in a path's text.
  static func textBytes(_ text: String) -> Int {
    text.utf8.reduce(1) { $0 + (isSpecial($1) || $1 == UInt8(ascii: ":") ? 2 : 1) }
  }

  /// Reads a path's text; wildcards are refused.
  ///
  /// - Throws: what is wrong and at which byte.
  public init(parsing text: String) throws(EventPathError) {
    let parts = try PathTextParts(text)
    let action = try parts.action.literal()
    var segments: [Segment] = []
    for part in parts.segments {
      if part.isRun { throw EventPathError(.wildcard, at: part.start) }
      let name = try part.name.literal()
      guard let index = part.index else {
        segments.append(Segment(name))
        continue
      }
      guard case .number(let number) = index else {
        throw EventPathError(.wildcard, at: part.start)
      }
      segments.append(Segment(name, index: number))
    }
    guard !segments.isEmpty else { throw EventPathError(.noSegment, at: text.utf8.count) }
    var state: [State] = []
    for item in parts.state {
      state.append(State(try item.name.literal(), try item.value.literal()))
    }
    self.init(checkedAction: action, segments, state)
  }
}

/// Why a text is no path, or no pattern of paths.
public struct EventPathError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: Hashable, Sendable {
    case noStart
    case noAction
    case noSegment
    case emptyName
    case tooLong(maximum: Int)
    case tooManySegments
    case tooManyStates
    case escape
    case index
    case segmentAfterState
    case containsNUL
    /// A path has no wildcards, the name of a state neither.
    case wildcard
  }

  /// What is wrong.
  public var reason: Reason
  /// The byte of the text, from 0.
  public var position: Int

  init(_ reason: Reason, at position: Int) {
    self.reason = reason
    self.position = position
  }

  /// What is wrong and at which byte.
  public var description: String { "\(text) at byte \(position)" }

  private var text: String {
    switch reason {
    case .noStart: "a path begins with # and an action, as #buttonClick:#UIButton"
    case .noAction: "the action ends with a colon, as #buttonClick:"
    case .noSegment: "a responder is missing behind the action"
    case .emptyName: "a name is empty"
    case .tooLong(let maximum): "more than \(maximum) bytes"
    case .tooManySegments: "more than \(EventPathLimits.maximumSegments) responders"
    case .tooManyStates: "more than \(EventPathLimits.maximumStates) states"
    case .escape: "\\ stands before one of # [ = : * . and \\ only"
    case .index: "an index is a number in brackets, as UIView[0]"
    case .segmentAfterState: "a responder stands behind the state; the state comes last"
    case .containsNUL: "U+0000"
    case .wildcard: "a wildcard; write \\* or \\... for the characters themselves"
    }
  }
}
