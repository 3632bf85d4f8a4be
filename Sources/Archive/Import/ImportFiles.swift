internal import Primitives

/// A file to be imported.
public struct ImportFile: Hashable, Sendable {
  public var path: String
  public var bytes: UInt64
}

/// Which files an import reads.
///
/// A file is taken as it is given. A folder is walked to its bottom, in the order of the paths' bytes,
/// which in the layout that Segment writes (`segment-logs/SOURCE/DAY/TIME.HASH.gz`) is that of time; of it
/// only names that end as lines of JSON do are taken, and names that begin with a point are not.
public struct ImportFiles: Hashable, Sendable {
  public static let suffixes = [".gz", ".ndjson", ".jsonl", ".json"]
  /// Folders within folders.
  static let maximumDepth = 32

  public private(set) var files: [ImportFile] = []
  /// Files in folders that were passed over for their names.
  public private(set) var passedOver = 0
  /// Folders that were walked: a link leads back to one of them, or twice to the same.
  private var walked: Set<FileSystem.Identity> = []

  /// - Throws: `.missing` for a path that is not there, `.other` for a folder that cannot be read.
  public init(_ paths: [String]) throws(ArchiveError) {
    for path in paths {
      do throws(SystemError) {
        if FileSystem.isFolder(path) {
          try walk(path.hasSuffix("/") && path != "/" ? String(path.dropLast()) : path, depth: 0)
        } else {
          files.append(ImportFile(path: path, bytes: try FileSystem.size(path)))
        }
      } catch {
        throw ArchiveError(error.code == SystemCode.absent ? .missing : .other, "\(error)")
      }
    }
  }

  public var bytes: UInt64 { files.reduce(0) { $0 + $1.bytes } }

  private mutating func walk(_ folder: String, depth: Int) throws(SystemError) {
    guard depth < Self.maximumDepth, walked.insert(try FileSystem.identity(folder)).inserted
    else { return }
    let names = try FileSystem.list(folder).filter { !$0.hasPrefix(".") }
    for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let path = "\(folder)/\(name)"
      if FileSystem.isFolder(path) {
        try walk(path, depth: depth + 1)
      } else if Self.suffixes.contains(where: name.hasSuffix) {
        files.append(ImportFile(path: path, bytes: try FileSystem.size(path)))
      } else {
        passedOver += 1
      }
    }
  }
}
