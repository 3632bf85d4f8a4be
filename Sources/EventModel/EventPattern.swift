internal import Primitives

/// Which event names somebody wants, over their bytes.
///
/// A pattern matches itself byte for byte; `*` stands for any run of bytes, none included; `\*` and `\\`
/// are a literal `*` and `\`, any other `\` is itself. Nothing else is special.
public struct EventPattern: Hashable, Sendable {
  private enum Form: Hashable, Sendable {
    case exact([UInt8])
    case prefix([UInt8])
    /// What stands between the stars: the first at the beginning of the name, the last at its end.
    case parts([[UInt8]])
  }

  private let form: Form

  public init(exact name: [UInt8]) { form = .exact(name) }
  public init(prefix: [UInt8]) { form = .prefix(prefix) }

  public init(glob: [UInt8]) {
    var parts: [[UInt8]] = [[]]
    var index = 0
    while index < glob.count {
      let byte = glob[index]
      if byte == UInt8(ascii: "*") {
        parts.append([])
      } else if byte == UInt8(ascii: "\\"), index + 1 < glob.count,
        glob[index + 1] == UInt8(ascii: "*") || glob[index + 1] == UInt8(ascii: "\\")
      {
        parts[parts.count - 1].append(glob[index + 1])
        index += 1
      } else {
        parts[parts.count - 1].append(byte)
      }
      index += 1
    }
    if parts.count == 1 {
      form = .exact(parts[0])
    } else if parts.count == 2, parts[1].isEmpty {
      form = .prefix(parts[0])
    } else {
      form = .parts(parts)
    }
  }

  public init(_ glob: String) { self.init(glob: Array(glob.utf8)) }

  /// The one name that it matches; nil when there can be several.
  public var exactName: [UInt8]? { if case .exact(let name) = form { name } else { nil } }

  /// The bytes that every match begins with.
  public var literalPrefix: [UInt8] {
    switch form {
    case .exact(let bytes), .prefix(let bytes): bytes
    case .parts(let parts): parts[0]
    }
  }

  public func matches(_ name: RawSpan) -> Bool {
    switch form {
    case .exact(let bytes): unsafe name.isEqual(to: bytes.span.bytes)
    case .prefix(let bytes): Self.stands(bytes, at: 0, in: name)
    case .parts(let parts): Self.match(parts, name)
    }
  }

  public func matches(_ name: [UInt8]) -> Bool { unsafe matches(name.span.bytes) }

  /// Whether it matches every name that `other` can match.
  ///
  /// A star of `other` stands for anything, so only a star here can take it. That misses pairs which are
  /// equal by accident (`*` against `**` is seen; `a*` or `b*` together are not tried); it never says yes
  /// wrongly.
  public func covers(_ other: EventPattern) -> Bool {
    let wanted = other.symbols
    switch form {
    case .exact(let bytes): return wanted == bytes.map { UInt16($0) }
    case .prefix(let bytes): return wanted.starts(with: bytes.map { UInt16($0) })
    case .parts(let parts):
      let parts = parts.map { $0.map { UInt16($0) } }
      var rest = wanted[...]
      guard rest.starts(with: parts[0]) else { return false }
      rest = rest.dropFirst(parts[0].count)
      let last = parts[parts.count - 1]
      guard rest.count >= last.count, rest.suffix(last.count).elementsEqual(last) else {
        return false
      }
      rest = rest.dropLast(last.count)
      for part in parts[1..<(parts.count - 1)] {
        while rest.count >= part.count, !rest.starts(with: part) { rest = rest.dropFirst() }
        guard rest.count >= part.count else { return false }
        rest = rest.dropFirst(part.count)
      }
      return true
    }
  }

  /// The pattern's bytes with 256 for each star.
  private var symbols: [UInt16] {
    switch form {
    case .exact(let bytes): bytes.map { UInt16($0) }
    case .prefix(let bytes): bytes.map { UInt16($0) } + [256]
    case .parts(let parts): Array(parts.map { $0.map { UInt16($0) } }.joined(separator: [256]))
    }
  }

  /// The earliest place for each part is always good enough: later ones only lose room.
  private static func match(_ parts: [[UInt8]], _ name: RawSpan) -> Bool {
    let last = parts[parts.count - 1]
    guard stands(parts[0], at: 0, in: name), name.byteCount >= parts[0].count + last.count,
      stands(last, at: name.byteCount - last.count, in: name)
    else { return false }
    var at = parts[0].count
    let end = name.byteCount - last.count
    for part in parts[1..<(parts.count - 1)] {
      while at + part.count <= end, !stands(part, at: at, in: name) { at += 1 }
      guard at + part.count <= end else { return false }
      at += part.count
    }
    return true
  }

  private static func stands(_ part: [UInt8], at start: Int, in name: RawSpan) -> Bool {
    guard start + part.count <= name.byteCount else { return false }
    return unsafe name.extracting(start..<start + part.count).isEqual(to: part.span.bytes)
  }
}
