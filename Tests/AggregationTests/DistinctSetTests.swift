import Hashing
import Testing

@testable import Aggregation

@Suite struct DistinctSetTests {
  private static let key = KeyedHash(key: Array(0...15))

  static func hash(_ number: Int) -> UInt64 {
    unsafe key.hash(Array("user-\(number)".utf8).span.bytes).high
  }

  private static let hashes = (0..<400_000).map(hash)

  @Test func `it is exact to 10,000 and then within its error`() {
    var set = DistinctSet()
    let sizes = [1, 2, 10, 100, 991, 1000, 5000, 10_000, 11_562, 15_000, 100_000, 400_000]
    var added = 0
    for size in sizes {
      for hash in Self.hashes[added..<size] { set.insert(hash) }
      added = size
      if size <= 10_000 {
        #expect(set.isExact)
        #expect(set.count == UInt64(size))
      } else {
        #expect(!set.isExact)
        let error = abs(Double(set.count) - Double(size)) / Double(size)
        #expect(error < 3 * HyperLogLog.error, "\(set.count) of \(size)")
      }
    }
  }

  @Test func `nothing jumps or falls where the sketch takes over`() {
    var set = DistinctSet()
    var last: UInt64 = 0
    for (index, hash) in Self.hashes[..<12_000].enumerated() {
      set.insert(hash)
      // One new user never changes the number by more than a few registers' worth.
      guard index > 9_990 else { continue }
      let count = set.count
      if last > 0 { #expect(count >= last && count - last <= 8, "\(last), then \(count)") }
      last = count
    }
    #expect(abs(Int(last) - 12_000) < 200)
  }

  @Test(arguments: [0, 100, 9000, 11_000, 30_000], [50, 9500, 20_000])
  func `a merged set counts what is in either`(first: Int, second: Int) {
    // Half of the second is in the first where that is long enough.
    let start = max(0, first - second / 2)
    var a = DistinctSet()
    var b = DistinctSet()
    for hash in Self.hashes[..<first] { a.insert(hash) }
    for hash in Self.hashes[start..<start + second] { b.insert(hash) }
    let union = max(first, start + second)
    a.merge(b)
    if a.isExact { #expect(a.count == UInt64(union)) }
    #expect(a.isExact == (union <= 10_000))
    #expect(abs(Double(a.count) - Double(union)) <= 3 * HyperLogLog.error * Double(union))
  }

  @Test func `registers depend neither on order nor on how sketches were merged`() {
    var whole = HyperLogLog()
    var parts = [HyperLogLog](repeating: HyperLogLog(), count: 7)
    for (index, hash) in Self.hashes[..<20_000].enumerated() {
      whole.insert(hash)
      parts[index % 7].insert(Self.hashes[19_999 - index])
    }
    var merged = HyperLogLog()
    for part in parts { merged.merge(part) }
    #expect(merged == whole)
  }

  @Test(arguments: [0, 1, 500, 3000, 40_000]) func `state reads back as it was`(size: Int) throws {
    // Exact to 100, so that the sparse form is met too.
    var set = DistinctSet()
    for hash in Self.hashes[..<size] { set.insert(hash, exactly: 100) }
    var writer = StateWriter()
    set.encode(to: &writer)
    var reader = StateReader(writer.bytes)
    #expect(try DistinctSet(from: &reader) == set)
    #expect(reader.isAtEnd)
    for length in stride(from: 0, to: writer.bytes.count, by: max(1, writer.bytes.count / 50)) {
      var cut = StateReader(Array(writer.bytes[..<length]))
      #expect(throws: StateError.self) { try DistinctSet(from: &cut) }
    }
  }

  @Test func `a table takes hashes out and keeps the others`() {
    var table = HashTable64()
    for hash in Self.hashes[..<1000] { _ = table.insert(hash) }
    var gone = HashTable64()
    for hash in Self.hashes[..<1] { _ = gone.insert(hash) }
    table.remove(gone)
    #expect(table.count == 999)
    #expect(!table.contains(Self.hashes[0]) && table.contains(Self.hashes[1]))
  }

  @Test func `registers and corrections that damage filled give no trap`() throws {
    for (floor, isRead) in [(0.0, true), (-1, false), (.nan, false), (.infinity, false)] {
      var writer = StateWriter()
      writer.byte(2)
      writer.double(floor)
      writer.double(0)
      writer.raw([UInt8](repeating: 0xFF, count: HyperLogLog.registerCount))
      var reader = StateReader(writer.bytes)
      guard isRead else {
        #expect(throws: StateError.self) { _ = try DistinctSet(from: &reader) }
        continue
      }
      #expect(try DistinctSet(from: &reader).count == .max)
    }
  }
}
