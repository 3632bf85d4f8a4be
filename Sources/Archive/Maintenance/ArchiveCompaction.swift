internal import BusProtocol
internal import Primitives

/// Puts small parts of closed hours together, beside the archiver and readers.
///
/// A new file is written under a temporary name, synced and renamed; then one transaction of the
/// catalogue puts it in the place of the old parts; then their files are removed. A kill at any moment
/// leaves what the catalogue says whole, and perhaps a file that it does not know.
public struct ArchiveCompaction: Sendable {
  public var directory: String
  /// What a part should have, in bytes of its file.
  public var partBytes: UInt64
  /// Asked between frames; once true, the present part is given up and nothing more is begun.
  public var isCancelled: @Sendable () -> Bool = { false }
  /// Told how many bytes of the files to be replaced are through, of how many.
  public var onProgress: @Sendable (_ bytes: UInt64, _ total: UInt64) -> Void = { _, _ in }

  public struct Report: Sendable {
    public internal(set) var partsBefore = 0
    public internal(set) var partsAfter = 0
    /// Bytes of the files that were replaced, and of those in their place.
    public internal(set) var bytesRead: UInt64 = 0
    public internal(set) var bytesWritten: UInt64 = 0
    /// Parts of the running hour, which is left alone until it is over.
    public internal(set) var partsWaiting = 0
    /// Parts that stay as they are because a file is damaged.
    public internal(set) var damages: [PartDamage] = []
  }

  public init(_ directory: String, partBytes: UInt64) {
    self.directory = directory
    self.partBytes = partBytes
  }

  /// - Parameter now: nanoseconds since 1970; the hour of arrival that it is in is left alone.
  /// - Throws: `.inUse` while another process replaces parts.
  public func run(now: Int64) throws(ArchiveError) -> Report {
    guard try FileSystem.isThere(directory + "/" + ArchiveNames.catalogue) else {
      throw ArchiveError(
        .missing, "\(directory) is no archive: it has no \(ArchiveNames.catalogue)")
    }
    // Held to the end: an archiver that starts now leaves files alone that are not catalogued yet.
    let lock = try ArchiveLock(.maintenance, of: directory)
    // A file that is no archive's catalogue yet is not made one here.
    _ = try Catalogue(reading: directory)
    let catalogue = try Catalogue(writing: directory)
    var report = Report()
    let parts = try catalogue.parts()
    report.partsBefore = parts.count
    report.partsAfter = parts.count
    let openFolder = ArchiveNames.folder(ofTime: now)
    report.partsWaiting = parts.count { ArchiveNames.folder(of: $0.path) >= openFolder }
    let groups = CompactionPlan.groups(parts, openFolder: openFolder, bytes: partBytes)
    let progress = ByteProgress(
      of: groups.joined().reduce(0) { $0 + $1.bytes }, onProgress)
    for group in groups where !isCancelled() {
      defer { progress.add(Int(clamping: group.reduce(0) { $0 + $1.bytes })) }
      switch try merge(group, now: now) {
      case .damaged(let damage): report.damages.append(damage)
      case .cancelled: break
      case .part(let part):
        guard try replace(group, with: part, catalogue) else { continue }
        report.partsAfter -= group.count - 1
        report.bytesRead += group.reduce(0) { $0 + $1.bytes }
        report.bytesWritten += part.bytes
      }
    }
    _ = consume lock
    return report
  }

  private enum Outcome {
    case part(Part)
    case damaged(PartDamage)
    case cancelled
  }

  /// Writes the file of a group under its name.
  private func merge(_ group: [Part], now: Int64) throws(ArchiveError) -> Outcome {
    let part = Self.description(of: group, now: now)
    let (folder, name) = Self.split(part.path)
    let temporary = "\(directory)/\(folder)/\(ArchiveNames.temporaryPrefix)\(name)"
    do throws(ArchiveError) {
      let outcome = try write(group, part, to: temporary)
      guard case .part = outcome else {
        Self.remove(temporary)
        return outcome
      }
      try Self.system { () throws(SystemError) in
        try FileSystem.move(temporary, to: "\(directory)/\(part.path)")
        try FileSystem.synchronize(folder: "\(directory)/\(folder)")
      }
      return outcome
    } catch {
      Self.remove(temporary)
      throw error
    }
  }

  private func write(
    _ group: [Part], _ description: Part, to temporary: String
  ) throws(ArchiveError) -> Outcome {
    var file = try CompactedFile(temporary)
    for old in group {
      if let damage = try copy(old, to: &file) { return .damaged(damage) }
      if isCancelled() { return .cancelled }
    }
    var part = description
    part.sha256 = try file.finish()
    part.bytes = file.bytes
    part.rawBytes = file.rawBytes
    part.count = file.count
    return .part(part)
  }

  /// Copies all of a part; returns what is wrong with it, after which the copy is of no use.
  private func copy(_ part: Part, to file: inout CompactedFile) throws(ArchiveError) -> PartDamage?
  {
    let (count, rawBytes) = (file.count, file.rawBytes)
    var reader: PartReader
    do throws(PartReadError) {
      reader = try PartReader(directory, part)
    } catch {
      switch error {
      case .failed(let error): throw error
      case .missing: return PartDamage(file: part.path, byte: 0, reason: "the file is not there")
      }
    }
    if let damage = try copy(&reader, to: &file) { return damage }
    // Nothing may get lost on the way without notice, whatever the checksums say.
    if !isCancelled(), file.count - count != part.count || file.rawBytes - rawBytes != part.rawBytes
    {
      return PartDamage(
        file: part.path, byte: 0, reason: "it has other lines than the catalogue says")
    }
    return nil
  }

  private func copy(
    _ reader: inout PartReader, to file: inout CompactedFile
  ) throws(ArchiveError) -> PartDamage? {
    var content: [UInt8] = []
    while !isCancelled() {
      do throws(PartDamage) {
        guard try reader.next(into: &content) else { return nil }
      } catch {
        return error
      }
      try file.add(lines: content, frame: reader.frame)
    }
    return nil
  }

  private func replace(
    _ group: [Part], with part: Part, _ catalogue: borrowing Catalogue
  ) throws(ArchiveError) -> Bool {
    var names: [[UInt8]: UInt64] = [:]
    var people: [UInt64] = []
    for old in group {
      for name in try catalogue.nameCounts(of: old) { names[name.name, default: 0] += name.count }
      people += try catalogue.people(of: old).hashes
    }
    let new = NewPart(
      part: part, names: names.map { NameCount(name: $0.key, count: $0.value) },
      people: PeopleIndex(people))
    guard try catalogue.replace(group, with: [new]) else {
      // A part was rewritten meanwhile, which only a process without the lock can have done.
      Self.remove("\(directory)/\(part.path)")
      return false
    }
    for old in group { Self.remove("\(directory)/\(old.path)") }
    return true
  }

  /// All that the catalogue keeps of the new part but what only the file can tell.
  private static func description(of group: [Part], now: Int64) -> Part {
    var part = group[0]
    let revision = 1 + (group.map { ArchiveNames.revision(of: $0.path) }.max() ?? 0)
    part.id = 0
    part.created = now
    for other in group.dropFirst() {
      part.last = max(part.last, other.last)
      part.covered =
        part.covered
        .lowerBound...max(
          part.covered.upperBound, other.covered.upperBound)
      part.timestamps = part.timestamps.joined(with: other.timestamps)
      part.times = part.times.joined(with: other.times)
    }
    let name = ArchiveNames.part(
      epoch: part.epoch, first: part.first, last: part.last, revision: revision)
    part.path = "\(split(part.path).folder)/\(name)"
    return part
  }

  private static func split(_ path: String) -> (folder: Substring, name: Substring) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path[...]) }
    return (path[..<slash], path[path.index(after: slash)...])
  }

  /// What cannot be removed goes at the archiver's next start.
  private static func remove(_ path: String) {
    do throws(SystemError) { try FileSystem.remove(path) } catch {
      // The catalogue does not know it, so nobody reads it.
    }
  }

  private static func system(_ body: () throws(SystemError) -> Void) throws(ArchiveError) {
    do throws(SystemError) { try body() } catch { throw ArchiveError(error) }
  }
}

extension ClosedRange<Int64> {
  fileprivate func joined(with other: Self) -> Self {
    Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
  }
}
