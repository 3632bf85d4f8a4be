internal import Primitives

/// The catalogue held against the names and sizes of the files, without reading those: quick, and made
/// beside a running archiver. `ArchiveVerification` reads them.
public struct ArchiveListing: Hashable, Sendable {
  public var parts = 0
  public var events: UInt64 = 0
  /// In the catalogue and not on the disk; below the directory.
  public var missingFiles: [String] = []
  /// One line each.
  public var wrongSizes: [String] = []
  public var overlaps: [String] = []
  /// On the disk and not in the catalogue.
  public var strayFiles: [String] = []

  public init() {}

  /// - Throws: `.missing` when there is no archive.
  public init(comparing directory: String) throws(ArchiveError) {
    // A part that is compacted meanwhile leaves the disk and the catalogue; what a second look finds too
    // is really so.
    self = try Self.look(directory)
    guard !missingFiles.isEmpty || !strayFiles.isEmpty else { return }
    let again = try Self.look(directory)
    let (missing, stray) = (Set(missingFiles), Set(strayFiles))
    self = again
    missingFiles = again.missingFiles.filter(missing.contains)
    strayFiles = again.strayFiles.filter(stray.contains)
  }

  private static func look(_ directory: String) throws(ArchiveError) -> ArchiveListing {
    let parts = try CatalogueSnapshot.read(directory) { catalogue throws(ArchiveError) in
      try catalogue.parts()
    }
    let files: [String]
    do throws(SystemError) {
      files = try FileSystem.filesBelow(directory)
    } catch {
      throw ArchiveError(error)
    }
    var listing = ArchiveListing()
    var unknown = Set(files.filter { !ArchiveVerification.isOwn($0) })
    for (index, part) in parts.enumerated() {
      listing.parts += 1
      listing.events += part.count
      let isThere = unknown.remove(part.path) != nil
      if isThere, let size = size("\(directory)/\(part.path)") {
        if size != part.bytes {
          listing.wrongSizes.append("\(part.path) has \(size.counted("byte")), not \(part.bytes)")
        }
      } else {
        listing.missingFiles.append(part.path)
      }
      if index > 0, part.firstPosition <= parts[index - 1].lastPosition {
        listing.overlaps.append("\(part.path) overlaps \(parts[index - 1].path)")
      }
    }
    // What the archiver is writing just now is not in the catalogue yet, by design.
    listing.strayFiles = unknown.filter { !$0.contains(ArchiveNames.temporaryPrefix) }.sorted()
    return listing
  }

  /// Nil when it has gone meanwhile.
  private static func size(_ path: String) -> UInt64? {
    do throws(SystemError) { return try FileSystem.size(path) } catch { return nil }
  }
}
