internal import BusProtocol
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Reads units line by line for one thread, and keeps account of what it met.
struct UnitReader: ~Copyable {
  private let directory: String
  private let queue: UnitQueue
  private let isCancelled: @Sendable () -> Bool
  private(set) var report = QueryReport()
  /// The lines of one frame.
  private var content: [UInt8] = []

  init(_ directory: String, _ queue: UnitQueue, isCancelled: @escaping @Sendable () -> Bool) {
    self.directory = directory
    self.queue = queue
    self.isCancelled = isCancelled
  }

  /// Gives `take` every wanted line of the units of the queue until it says no, or none is left.
  ///
  /// Damage costs the frame that it is in, and is reported.
  mutating func run(
    _ matcher: inout LineMatcher, _ take: (borrowing LineMatcher, RawSpan) -> Bool
  ) throws(ArchiveError) {
    while !isCancelled(), let unit = queue.next() {
      do throws(PartReadError) {
        var reader = try PartReader(directory, unit.part)
        report.partsOpened += 1
        guard read(&reader, unit, &matcher, take) else { return }
      } catch {
        switch error {
        case .failed(let error): throw error
        case .missing:
          if try queue.replace(unit) { continue }
          report.add(PartDamage(file: unit.part.path, byte: 0, reason: "the file is not there"))
        }
      }
    }
  }

  /// False when no more lines are wanted.
  private mutating func read(
    _ reader: inout PartReader, _ unit: QueryPlan.Unit, _ matcher: inout LineMatcher,
    _ take: (borrowing LineMatcher, RawSpan) -> Bool
  ) -> Bool {
    var lastGood: Position?
    while !isCancelled() {
      do throws(PartDamage) {
        guard try reader.next(into: &content) else { break }
      } catch {
        var damage = error
        damage.lastGood = lastGood
        report.add(damage)
        guard reader.skipToNextFrame() else { break }
        continue
      }
      guard lines(unit, at: reader.frameStart, &lastGood, &matcher, take) else { return false }
      queue.progress.add(reader.frameBytes)
    }
    return true
  }

  private mutating func lines(
    _ unit: QueryPlan.Unit, at frame: UInt64, _ lastGood: inout Position?,
    _ matcher: inout LineMatcher, _ take: (borrowing LineMatcher, RawSpan) -> Bool
  ) -> Bool {
    // Taken out for the time, so that the account can change meanwhile.
    var lines: [UInt8] = []
    swap(&lines, &content)
    defer { swap(&lines, &content) }
    return unsafe lines.withUnsafeBytes { lines in
      var start = 0
      var number = 0
      while start < lines.count {
        let end = unsafe Self.lineEnd(lines, from: start)
        let line = unsafe UnsafeRawBufferPointer(rebasing: lines[start..<end])
        start = end + 1
        number += 1
        report.eventsRead += 1
        switch unsafe matcher.judge(line, unit) {
        case .notWanted: continue
        case .wanted:
          report.eventsMatched += 1
          if unsafe !take(matcher, line.bytes) { return false }
        case .unreadable:
          report.add(
            PartDamage(
              file: unit.part.path, byte: frame,
              lastGood: lastGood, reason: "line \(number) of this frame is no event"))
        }
        if start >= lines.count { lastGood = unsafe LineTail.position(line) ?? lastGood }
      }
      return true
    }
  }

  /// The place of the next newline; the end where there is none.
  @inline(__always)
  private static func lineEnd(_ lines: UnsafeRawBufferPointer, from start: Int) -> Int {
    guard let base = lines.baseAddress,
      let found = unsafe memchr(base + start, 0x0A, lines.count - start)
    else { return lines.count }
    return unsafe UnsafeRawPointer(found) - base
  }
}
