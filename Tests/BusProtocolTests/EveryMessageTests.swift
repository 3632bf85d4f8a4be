import Primitives
import Testing

@testable import BusProtocol

/// Tests that hold for the bytes of every message: nothing traps, and nothing cut or changed is
/// taken for what was sent.
@Suite struct EveryMessageTests {
  @Test(arguments: Sample.all)
  func `a message is read as it was written`(_ sample: Sample) throws {
    #expect(try sample.rewrite(sample.bytes) == sample.bytes)
  }

  @Test(arguments: Sample.all)
  func `a message cut at any byte is refused`(_ sample: Sample) {
    for length in 0..<sample.bytes.count {
      #expect(throws: ProtocolError.self, "cut to \(length) bytes") {
        try sample.rewrite(Array(sample.bytes[..<length]))
      }
    }
  }

  @Test(arguments: Sample.all)
  func `a message with one byte changed is refused or read as what it now says`(_ sample: Sample)
    throws
  {
    for index in sample.bytes.indices {
      for change in [1, 2, 4, 8, 16, 32, 64, 128, 255] as [UInt8] {
        var changed = sample.bytes
        changed[index] ^= change
        try Self.expectTruth(of: sample, for: changed)
      }
    }
  }

  @Test(arguments: Sample.all)
  func `random changes never trap and are refused or read as they stand`(_ sample: Sample) throws {
    var random = SeededRandom(seed: 1)
    for _ in 0..<(10_000 / Sample.all.count + 1) {
      var changed = sample.bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        Self.mutate(&changed, using: &random)
      }
      try Self.expectTruth(of: sample, for: changed)
    }
  }

  @Test(arguments: Sample.all)
  func `random bytes behind a header never trap`(_ sample: Sample) throws {
    var random = SeededRandom(seed: 2)
    for _ in 0..<200 {
      let count = Int.random(in: 0..<80, using: &random)
      let tail = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      try Self.expectTruth(of: sample, for: Array(sample.bytes.prefix(12)) + tail)
    }
  }

  /// Refused, or what was understood is all that is there. Of a map unknown keys may have been
  /// left out, so there what was understood must read the same again.
  private static func expectTruth(of sample: Sample, for bytes: [UInt8]) throws {
    let understood: [UInt8]
    do {
      understood = try sample.rewrite(bytes)
    } catch is ProtocolError {
      return
    }
    if sample.isFixed {
      // The header's verb, flags and unknown tail are another reader's matter.
      let body = MessageHeader.byteCount..<sample.bytes.count
      #expect(understood[body] == bytes[body])
    } else {
      #expect(try sample.rewrite(understood) == understood)
    }
  }

  private static func mutate(_ bytes: inout [UInt8], using random: inout SeededRandom) {
    let index = Int.random(in: 0...bytes.count, using: &random)
    // Bounds of integers are where counts and lengths overflow.
    let value = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
      .randomElement(using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: bytes.removeSubrange(index...)
    case 1: bytes.insert(value ?? 0, at: index)
    case 2 where index < bytes.count: bytes.remove(at: index)
    default: if index < bytes.count { bytes[index] = value ?? 0 }
    }
  }
}
