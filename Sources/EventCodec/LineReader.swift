/// Cuts a stream of bytes into the lines of an NDJSON file, with their true numbers.
///
/// Feed it chunks of any size. A byte-order mark at the start is skipped, CRLF is a line end, blank
/// lines are no events (but count). Memory is bounded: of a line over the limit only its length is kept.
public struct LineReader: Sendable {
  /// What a line is.
  public enum Line: Hashable, Sendable {
    case text([UInt8])
    /// Over the limit: its length in bytes.
    case tooLong(bytes: Int)
  }

  public struct Numbered: Hashable, Sendable {
    /// From 1.
    public var number: Int
    public var line: Line

    public init(number: Int, line: Line) {
      self.number = number
      self.line = line
    }
  }

  /// The stream is UTF-16 or UTF-32, which its byte-order mark says.
  public struct WrongEncoding: Error, Hashable, Sendable, CustomStringConvertible {
    public var name: String
    public var description: String {
      "the input is \(name); events are read as UTF-8: convert it, as with iconv -f \(name) -t UTF-8"
    }
  }

  public let maximumBytes: Int
  private var pending: [UInt8] = []
  /// Lines that have ended, blank ones among them: the number of the last one.
  public private(set) var number = 0
  /// Bytes of the present line that were not kept.
  private var skipped = 0
  private var isAtStart = true

  public init(maximumBytes: Int = 256 << 10) { self.maximumBytes = maximumBytes }

  /// Calls `take` for each line that `chunk` ends; false from it stops the reading.
  public mutating func feed(
    _ chunk: ArraySlice<UInt8>, _ take: (Numbered) -> Bool
  ) throws(WrongEncoding) {
    var chunk = chunk
    if isAtStart {
      // The mark can come in pieces: wait for four bytes.
      pending.append(contentsOf: chunk)
      guard pending.count >= 4 else { return }
      chunk = pending[...]
      pending = []
      try begin(&chunk)
    }
    while let end = chunk.firstIndex(of: 0x0A) {
      keep(chunk[chunk.startIndex..<end])
      chunk = chunk[(end + 1)...]
      guard finishLine(take) else { return }
    }
    keep(chunk)
  }

  /// The stream has ended: the last line may lack its newline.
  public mutating func finish(_ take: (Numbered) -> Bool) throws(WrongEncoding) {
    if isAtStart {
      var chunk = pending[...]
      pending = []
      try begin(&chunk)
      while let end = chunk.firstIndex(of: 0x0A) {
        keep(chunk[chunk.startIndex..<end])
        chunk = chunk[(end + 1)...]
        guard finishLine(take) else { return }
      }
      keep(chunk)
    }
    if !pending.isEmpty || skipped > 0 { _ = finishLine(take) }
  }

  private mutating func begin(_ chunk: inout ArraySlice<UInt8>) throws(WrongEncoding) {
    isAtStart = false
    if chunk.starts(with: [0xFF, 0xFE]) { throw WrongEncoding(name: "UTF-16LE") }
    if chunk.starts(with: [0xFE, 0xFF]) { throw WrongEncoding(name: "UTF-16BE") }
    if chunk.starts(with: [0, 0, 0xFE, 0xFF]) { throw WrongEncoding(name: "UTF-32BE") }
    if chunk.starts(with: [0xEF, 0xBB, 0xBF]) { chunk = chunk.dropFirst(3) }
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) {
    if skipped > 0 {
      skipped += bytes.count
    } else if pending.count + bytes.count > maximumBytes + 1 {
      // One more than the limit, for a carriage return that goes.
      skipped = pending.count + bytes.count
      pending.removeAll(keepingCapacity: true)
    } else {
      pending.append(contentsOf: bytes)
    }
  }

  private mutating func finishLine(_ take: (Numbered) -> Bool) -> Bool {
    number += 1
    defer {
      pending.removeAll(keepingCapacity: true)
      skipped = 0
    }
    if skipped > 0 { return take(Numbered(number: number, line: .tooLong(bytes: skipped))) }
    if pending.last == 0x0D { pending.removeLast() }
    if pending.count > maximumBytes {
      return take(Numbered(number: number, line: .tooLong(bytes: pending.count)))
    }
    let isBlank = pending.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    return isBlank || take(Numbered(number: number, line: .text(pending)))
  }
}
