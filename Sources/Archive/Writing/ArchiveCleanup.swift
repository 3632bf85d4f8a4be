internal import Primitives

/// Removes the files that a killed archiver left: named as the archiver names them, not in the catalogue,
/// and of no more use. Everything else that lies in the directory is somebody else's and stays.
///
/// A catalogue can be older than the files beside it, or a new one: then the files are all there is of
/// their events. None is removed unless all are accounted for.
enum ArchiveCleanup {
  /// The same; nothing while another process replaces parts, whose new files are not entered yet.
  static func runUnlessMaintained(_ catalogue: borrowing Catalogue) throws(ArchiveError) -> [String]
  {
    do throws(ArchiveError) {
      let lock = try ArchiveLock(.maintenance, of: catalogue.directory)
      let removed = try run(catalogue)
      _ = consume lock
      return removed
    } catch {
      guard error.kind == .inUse else { throw error }
      return []
    }
  }

  /// - Parameter besideOpenPart: leaves what this process may be writing just now, whose names do not end
  ///   as those of finished files do.
  /// - Returns: the paths that were removed, below the directory.
  static func run(
    _ catalogue: borrowing Catalogue, besideOpenPart: Bool = false
  ) throws(ArchiveError) -> [String] {
    let known = Set(try catalogue.parts().map(\.path))
    let directory = catalogue.directory
    var found: [StrayFiles.File] = []
    do throws(SystemError) {
      for day in try folders(of: directory) {
        for hour in try folders(of: "\(directory)/\(day)") {
          let folder = "\(day)/\(hour)"
          for name in try FileSystem.list("\(directory)/\(folder)")
          where ArchiveNames.isOurs(file: name) && !known.contains("\(folder)/\(name)")
            && !(besideOpenPart && !name.hasSuffix(ArchiveNames.partSuffix))
          {
            found.append(StrayFiles.File(path: "\(folder)/\(name)", name: name))
          }
        }
      }
    } catch {
      throw ArchiveError(error)
    }
    guard !found.isEmpty else { return [] }
    try StrayFiles(catalogue).check(found)
    do throws(SystemError) {
      for file in found { try FileSystem.remove("\(directory)/\(file.path)") }
    } catch {
      throw ArchiveError(error)
    }
    return found.map(\.path)
  }

  private static func folders(of path: String) throws(SystemError) -> [String] {
    try FileSystem.list(path)
      .filter { ArchiveNames.isOurs(folder: $0) && FileSystem.isFolder("\(path)/\($0)") }
  }
}
