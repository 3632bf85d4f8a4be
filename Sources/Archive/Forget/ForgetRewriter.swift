internal import BusProtocol
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Erases people from an archive's parts: finds them by the parts' indexes and writes these parts anew
/// without them.
///
/// Belongs to the archiver's thread and works one part at a time, between batches. Of a new part the file
/// is complete, synced and named before one transaction puts it in the place of the old one and counts
/// what went; then the old file is removed. What a killed process leaves is a file that the catalogue
/// does not know, and a request that is still open: the next start removes the one and goes on with the
/// other. Readers go by the catalogue, so they see an event that stays exactly once throughout.
struct ForgetRewriter {
  enum Step: Equatable {
    /// No request is open.
    case idle
    /// A part was looked at, and written anew if it held one of the people.
    case worked
    /// The requests are through, so many.
    case finished(requests: Int)
    /// These parts are damaged, and what is left to do is in them: a request stays open until they are
    /// mended or removed.
    case blocked([PartDamage])
  }

  /// Parts to be looked at, in order.
  private var queue: [Part] = []
  /// Parts that were found to hold nothing to be erased for the requests of this list, so that a look
  /// through the indexes does not bring them up again.
  private var clean: Set<Int64> = []
  private var damages: [Int64: PartDamage] = [:]
  private var erasures: [Erasure] = []
  /// Called between the steps of writing a part; a test throws there, as if the process died.
  var onStep: ((ForgetStep) throws(ArchiveError) -> Void)?

  init() {}

  /// Does the next piece of work: at most one part, or one look through the indexes.
  ///
  /// The caller holds `lock.maintenance`, so that nobody else replaces parts meanwhile.
  ///
  /// - Parameter now: nanoseconds since 1970.
  /// - Throws: what keeps parts from being written, as a full disk: it goes on with the next call.
  mutating func step(_ catalogue: borrowing Catalogue, at now: Int64) throws(ArchiveError) -> Step {
    if let part = queue.first {
      try rewrite(part, catalogue, at: now)
      queue.removeFirst()
      return .worked
    }
    let open = try catalogue.openErasures()
    if open.map(\.id) != erasures.map(\.id) {
      clean = []
      damages = [:]
      erasures = open
    }
    guard !open.isEmpty else { return .idle }
    let left = try catalogue.parts(toErase: open).filter { !clean.contains($0.id) }
    queue = left.filter { damages[$0.id] == nil }
    if !queue.isEmpty { return .worked }
    guard left.isEmpty else { return .blocked(left.compactMap { damages[$0.id] }) }
    // What a killed compaction left may hold them too.
    _ = try ArchiveCleanup.run(catalogue, besideOpenPart: true)
    try catalogue.finish(open, at: now)
    erasures = []
    return .finished(requests: open.count)
  }

  private mutating func rewrite(
    _ part: Part, _ catalogue: borrowing Catalogue, at now: Int64
  ) throws(ArchiveError) {
    var erasure = PartErasure(part, erasures, key: catalogue.hash)
    var writer = try PartWriter(
      directory: catalogue.directory, folder: ArchiveNames.folder(of: part.path),
      name: "\(ArchiveNames.partPrefix)\(part.epoch)-\(part.first)-erasing")
    try onStep?(.created)
    switch try Self.copy(part, catalogue.directory, &erasure, &writer) {
    case .missing:
      // What has its place comes up with the next look; a file that is lost has nobody in it.
      writer.discard()
    case .damaged(let damage):
      writer.discard()
      damages[part.id] = damage
    case .whole where erasure.erasedCount == 0:
      writer.discard()
      clean.insert(part.id)
    case .whole:
      try replace(erasure, try writer.finish(), catalogue, at: now)
    }
  }

  private func replace(
    _ erasure: PartErasure, _ file: FinishedFile, _ catalogue: borrowing Catalogue, at now: Int64
  ) throws(ArchiveError) {
    let directory = catalogue.directory
    let names = try catalogue.nameCounts(of: erasure.part)
    let new = erasure.entry(file, names: names, created: now)
    try onStep?(.finished)
    if let new {
      try file.publish(as: new.part.path, in: directory)
    } else {
      try Self.remove("\(directory)/\(file.folder)/\(file.temporaryName)")
    }
    try onStep?(.published)
    guard try catalogue.erase(erasure.part, new, events: erasure.erased) else {
      // Somebody without the lock was faster; the next look finds where the events are now.
      if let new { try Self.remove("\(directory)/\(new.part.path)") }
      return
    }
    try onStep?(.catalogued)
    try Self.remove("\(directory)/\(erasure.part.path)")
  }

  private enum Copy {
    case whole, missing
    case damaged(PartDamage)
  }

  private static func copy(
    _ part: Part, _ directory: String, _ erasure: inout PartErasure, _ writer: inout PartWriter
  ) throws(ArchiveError) -> Copy {
    guard var reader = try open(part, directory) else { return .missing }
    var content: [UInt8] = []
    while true {
      do throws(PartDamage) {
        guard try reader.next(into: &content) else { break }
      } catch {
        return .damaged(error)
      }
      guard unsafe try copy(content.span.bytes, &erasure, &writer) else {
        return .damaged(
          PartDamage(
            file: part.path, byte: reader.frameStart, reason: "a line of this frame is no event"))
      }
    }
    // What the checksums let through must not get lost on the way without notice.
    guard erasure.kept + erasure.erasedCount == part.count else {
      return .damaged(
        PartDamage(
          file: part.path, byte: 0, reason: "it has other lines than the catalogue says"))
    }
    return .whole
  }

  /// Nil when the file is not there.
  private static func open(
    _ part: Part, _ directory: String
  ) throws(ArchiveError) -> PartReader? {
    do throws(PartReadError) {
      return try PartReader(directory, part)
    } catch {
      if case .failed(let error) = error { throw error }
      return nil
    }
  }

  /// The lines of one frame; false when one of them is no event.
  private static func copy(
    _ lines: RawSpan, _ erasure: inout PartErasure, _ writer: inout PartWriter
  ) throws(ArchiveError) -> Bool {
    var start = 0
    while start < lines.byteCount {
      let end = lineEnd(lines, from: start)
      switch erasure.judge(lines.extracting(start..<end)) {
      case .keep:
        writer.append(line: lines.extracting(start..<end + 1))
        _ = try writer.endLine()
      case .erase: break
      case .unreadable: return false
      }
      start = end + 1
    }
    return true
  }

  /// Where the next newline is. A frame ends with one, which its reader has checked.
  private static func lineEnd(_ lines: RawSpan, from start: Int) -> Int {
    unsafe lines.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress,
        let found = unsafe memchr(base + start, 0x0A, bytes.count - start)
      else { return bytes.count - 1 }
      return unsafe UnsafeRawPointer(found) - base
    }
  }

  private static func remove(_ path: String) throws(ArchiveError) {
    do throws(SystemError) { try FileSystem.remove(path) } catch { throw ArchiveError(error) }
  }
}

/// The steps of writing a part anew, in order.
enum ForgetStep: Sendable, CaseIterable {
  case created, finished, published, catalogued
}
