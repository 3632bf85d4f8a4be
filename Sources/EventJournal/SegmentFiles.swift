internal import Primitives

/// Segment files as wholes: making one, reading its head and its snapshot.
struct SegmentFiles<Storage: JournalStorage> {
  let storage: Storage

  init(_ storage: Storage) { self.storage = storage }

  /// Makes a segment file that is complete and durable before it has its name, and returns it open for
  /// writing. After `.diskFull` nothing is left of it.
  func make(_ header: SegmentHeader, snapshot: [UInt8]) throws(JournalError) -> Storage.File {
    let unfinished = header.name + SegmentHeader.unfinishedSuffix
    let file: Storage.File
    do {
      file = try storage.create(unfinished)
      try file.write(header.encoded(), at: 0)
      if !snapshot.isEmpty { try file.write(snapshot, at: header.snapshotPosition) }
    } catch {
      let full = error
      guard full.isDiskFull || full.isReadOnly else { throw .system(full) }
      // Best effort, to give the room back: a retry empties the file, and the next open removes it.
      do { try storage.remove(unfinished) } catch { throw .diskFull(full) }
      throw .diskFull(full)
    }
    do {
      try file.synchronize()
      try storage.rename(unfinished, to: header.name)
      try storage.synchronizeDirectory()
    } catch { throw .system(error) }
    return file
  }

  enum Head {
    case checks(SegmentHeader)
    case damaged
  }

  /// Reads and checks the head of an open segment file.
  func head(of file: Storage.File, name: String) throws(JournalError) -> Head {
    var wanted = 4096
    while true {
      let bytes: [UInt8]
      do { bytes = try file.read(wanted, at: 0) } catch { throw .system(error) }
      do {
        let header = try SegmentHeader(decoding: unsafe bytes.span.bytes)
        return header.name == name ? .checks(header) : .damaged
      } catch {
        switch error {
        case .damaged: return .damaged
        case .newer(let version):
          throw .newerFormat(file: name, version: version, supported: SegmentHeader.version)
        case .needsMore(let more):
          guard bytes.count == wanted, more > wanted else { return .damaged }
          wanted = more
        }
      }
    }
  }

  /// The snapshot, or nil when it does not check.
  func snapshot(
    of header: SegmentHeader, in file: Storage.File
  ) throws(JournalError) -> [UInt8]? {
    let bytes: [UInt8]
    do {
      let size = try file.size()
      guard size >= header.recordsPosition else { return nil }
      bytes = try file.read(header.snapshotLength, at: header.snapshotPosition)
    } catch { throw .system(error) }
    let checks =
      bytes.count == header.snapshotLength
      && CRC32C.checksum(bytes) == header.snapshotChecksum
    return checks ? bytes : nil
  }

  /// The names of all segment files by their offsets, oldest first.
  func names() throws(JournalError) -> [(offset: UInt64, name: String)] {
    let all: [String]
    do { all = try storage.list() } catch { throw .system(error) }
    return all.compactMap { name in SegmentHeader.offset(inName: name).map { ($0, name) } }
      .sorted { $0.0 < $1.0 }
  }
}
