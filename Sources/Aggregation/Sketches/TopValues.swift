internal import Primitives

/// The most frequent values of a property, in bounded memory.
///
/// Up to twice `limit` values are counted exactly. When one more comes, the `limit` most frequent are
/// kept, of equal ones those that came first, and the others are folded into `other`, so the total stays
/// exact and nothing vanishes. A value that was folded and comes again is counted from there on: its
/// count is at most `mayMiss` too low, which is never more than the total divided by `limit` (lossy
/// counting: Manku and Motwani 2002).
struct TopValues: Sendable {
  struct Entry: Sendable, Equatable {
    var count: UInt64
    var mayMiss: UInt64
  }

  /// What `limit` must be for an answer that shows `count` values: with no more than it shows, a value among them
  /// is folded before it has become frequent enough to stay. Memory bounds it.
  static func kept(toShow count: Int) -> Int { max(count, min(10 * count, 500)) }

  /// Values in MessagePack.
  private var keys = ByteInterner()
  private(set) var entries: [Entry] = []
  /// Events whose value was folded, or cannot be a key.
  private(set) var other: UInt64 = 0
  /// How many times a value went into `other`: at least the number of different ones there.
  private(set) var folded: UInt64 = 0
  /// What a value that is not among the entries can have at most.
  private(set) var missing: UInt64 = 0

  var total: UInt64 { other + entries.reduce(0) { $0 + $1.count } }
  var byteCount: Int { keys.memoryBytes + entries.count * 16 }

  mutating func insert(_ key: RawSpan, limit: Int) {
    if let found = keys.find(key) {
      entries[found].count += 1
    } else {
      add(key, Entry(count: 1, mayMiss: missing), limit: limit)
    }
  }

  /// A value that cannot be a key.
  mutating func insertOther() { other += 1 }

  mutating func merge(_ more: TopValues, limit: Int) {
    let before = missing
    for index in entries.indices where more.keys.find(keys[index]) == nil {
      // The other may have folded it.
      entries[index].mayMiss += more.missing
    }
    other += more.other
    folded += more.folded
    missing += more.missing
    for (index, entry) in more.entries.enumerated() {
      let key = more.keys[index]
      if let found = keys.find(key) {
        entries[found].count += entry.count
        entries[found].mayMiss += entry.mayMiss
      } else {
        let mayMiss = entry.mayMiss + before
        unsafe add(
          key.span.bytes, Entry(count: entry.count, mayMiss: mayMiss), limit: limit)
      }
    }
  }

  subscript(key: [UInt8]) -> Entry? { keys.find(key).map { entries[$0] } }

  /// The most frequent first; equal ones by their bytes.
  func sorted() -> [(key: [UInt8], entry: Entry)] {
    entries.indices.map { (key: keys[$0], entry: entries[$0]) }.sorted { a, b in
      a.entry.count != b.entry.count
        ? a.entry.count > b.entry.count : a.key.lexicographicallyPrecedes(b.key)
    }
  }

  private mutating func add(_ key: RawSpan, _ entry: Entry, limit: Int) {
    if entries.count >= 2 * limit { fold(to: limit) }
    _ = keys.intern(key)
    entries.append(entry)
  }

  private mutating func fold(to limit: Int) {
    let order = entries.indices.sorted { a, b in
      entries[a].count != entries[b].count ? entries[a].count > entries[b].count : a < b
    }
    for index in order[limit...] {
      other += entries[index].count
      folded += 1
      missing = max(missing, entries[index].count + entries[index].mayMiss)
    }
    var kept = ByteInterner()
    var keptEntries: [Entry] = []
    for index in order[..<limit].sorted() {
      _ = kept.intern(keys[index])
      keptEntries.append(entries[index])
    }
    (keys, entries) = (kept, keptEntries)
  }
}

extension TopValues: Equatable {
  static func == (a: TopValues, b: TopValues) -> Bool {
    a.other == b.other && a.folded == b.folded && a.missing == b.missing
      && a.entries.count == b.entries.count
      && a.entries.indices.allSatisfy { a.entries[$0] == b[a.keys[$0]] }
  }
}

extension TopValues: StateCoded {
  // other, folded, missing, number of entries, each in the order in which they came: key text, count,
  // may miss
  func encode(to output: inout StateWriter) {
    output.number(other)
    output.number(folded)
    output.number(missing)
    output.number(entries.count)
    for (index, entry) in entries.enumerated() {
      output.text(keys[index])
      output.number(entry.count)
      output.number(entry.mayMiss)
    }
  }

  init(from input: inout StateReader) throws(StateError) {
    other = try input.events()
    folded = try input.events()
    missing = try input.events()
    for index in 0..<(try input.count(of: 3)) {
      guard keys.intern(try input.text()) == index else { throw input.damaged }
      entries.append(Entry(count: try input.events(), mayMiss: try input.events()))
    }
  }
}
