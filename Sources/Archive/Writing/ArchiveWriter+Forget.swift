internal import Primitives

extension ArchiveWriter {
  /// Erases from all parts whoever asked to be forgotten, part by part: each is written anew, entered in
  /// the place of the old one, and only then the old file goes. Interrupted at any moment it goes on at
  /// the next commit or start.
  ///
  /// A part that is damaged stays as it is, and the request stays open: `unerasable` names it.
  public mutating func eraseForgotten() throws(ArchiveError) {
    let open = try catalogue.openErasures()
    guard !open.isEmpty else { return }
    let lock: ArchiveLock
    do throws(ArchiveError) {
      lock = try ArchiveLock(.maintenance, of: catalogue.directory)
    } catch {
      // Another process replaces parts just now: after the next commit.
      guard error.kind == .inUse else { throw error }
      return
    }
    let list = ErasureList(open)
    for part in try catalogue.parts() where !unerasable.contains(part.path) {
      guard list.concerns(part, try catalogue.people(of: part)) else { continue }
      try erase(list, from: part)
    }
    if unerasable.isEmpty { try catalogue.finish(open, at: SystemClock.realtime()) }
    _ = consume lock
  }

  private mutating func erase(_ list: ErasureList, from part: Part) throws(ArchiveError) {
    var eraser = PartEraser(
      part, names: try catalogue.nameCounts(of: part), list, key: catalogue.hash,
      directory: catalogue.directory)
    do throws(ArchiveError) {
      switch try eraser.run() {
      case .unchanged: return
      case .empty: try replace(part, with: nil, eraser.erased)
      case .rewritten(let file, let new):
        try file.publish(as: new.part.path, in: catalogue.directory)
        try replace(part, with: new, eraser.erased)
      }
    } catch {
      guard error.kind == .damaged else { throw error }
      unerasable.insert(part.path)
    }
  }

  private func replace(
    _ old: Part, with new: NewPart?, _ erased: [Int64: UInt64]
  ) throws(ArchiveError) {
    guard try catalogue.erase(old, new, events: erased) else { return }
    do throws(SystemError) {
      try FileSystem.remove("\(catalogue.directory)/\(old.path)")
    } catch {
      throw ArchiveError(error)
    }
  }
}
