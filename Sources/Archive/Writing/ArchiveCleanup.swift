internal import Primitives

/// Removes the files that a killed archiver left: named as the archiver names them, and not in the
/// catalogue. Everything else that lies in the directory is somebody else's and stays.
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
    var removed: [String] = []
    do throws(SystemError) {
      for day in try folders(of: directory) {
        for hour in try folders(of: "\(directory)/\(day)") {
          let folder = "\(day)/\(hour)"
          for name in try FileSystem.list("\(directory)/\(folder)")
          where ArchiveNames.isOurs(file: name) && !known.contains("\(folder)/\(name)")
            && !(besideOpenPart && !name.hasSuffix(ArchiveNames.partSuffix))
          {
            try FileSystem.remove("\(directory)/\(folder)/\(name)")
            removed.append("\(folder)/\(name)")
          }
        }
      }
    } catch {
      throw ArchiveError(error)
    }
    return removed
  }

  private static func folders(of path: String) throws(SystemError) -> [String] {
    try FileSystem.list(path)
      .filter { ArchiveNames.isOurs(folder: $0) && FileSystem.isFolder("\(path)/\($0)") }
  }
}
