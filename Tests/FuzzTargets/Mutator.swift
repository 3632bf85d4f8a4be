internal import Primitives

/// Changes inputs at random, as far as a generator of a known seed goes: a run can be repeated.
public struct Mutator {
  private var random: SeededRandom
  /// What decoders compare with: chance alone rarely makes them.
  private static let words: [[UInt8]] =
    [
      "null", "true", "\"", "{}", "[]", "\\u", "\\ud800", "1e309", "-", ".", "*", "#", "\\",
      "18446744073709551616", "9223372036854775807", "-9223372036854775808",
    ].map { Array($0.utf8) } + [
      [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0, 0, 0, 0],
      [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xDD, 0xFF, 0xFF, 0xFF, 0xFF],
      [0xDF, 0x7F, 0xFF, 0xFF, 0xFF], [0xC6, 0xFF, 0xFF, 0xFF, 0xFF], [0xED, 0xA0, 0x80],
    ]

  public init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// One of `inputs` after one to four changes.
  public mutating func next(of inputs: [[UInt8]], maximumBytes: Int = 4096) -> [UInt8] {
    var bytes = inputs[below(inputs.count)]
    for _ in 0...below(4) { change(&bytes, inputs) }
    return Array(bytes.prefix(maximumBytes))
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func change(_ bytes: inout [UInt8], _ inputs: [[UInt8]]) {
    let at = below(bytes.count + 1)
    switch below(8) {
    case 0: bytes.removeSubrange(at..<min(bytes.count, at + 1 + below(8)))
    case 1: bytes.insert(contentsOf: Self.words[below(Self.words.count)], at: at)
    case 2: bytes.replace(at, with: Self.words[below(Self.words.count)])
    case 3: bytes.insert(UInt8(below(256)), at: at)
    case 4:
      let part = bytes[at..<min(bytes.count, at + 1 + below(24))]
      bytes.insert(contentsOf: part, at: below(bytes.count + 1))
    case 5:
      let other = inputs[below(inputs.count)]
      bytes = Array(bytes[..<at]) + other[below(other.count + 1)...]
    default:
      guard at < bytes.count else { return bytes.append(UInt8(below(256))) }
      switch below(3) {
      case 0: bytes[at] ^= 1 << UInt8(below(8))
      case 1: bytes[at] &+= UInt8(1 + below(3))
      default: bytes[at] = UInt8(below(256))
      }
    }
  }
}

extension [UInt8] {
  fileprivate mutating func replace(_ at: Int, with word: [UInt8]) {
    replaceSubrange(at..<Swift.min(count, at + word.count), with: word)
  }
}
