internal import Primitives
internal import SinkState

/// What an archiver still knows when its directory fails under it, so that it goes on by itself with the
/// same archive, and never with another.
public struct ArchiveMemory: Sendable {
  var key: [UInt8]
  /// The file system that the directory was on.
  var device: UInt64
  var progress: SinkProgress
  var forgotten: ForgottenPeople

  /// Opens the catalogue; for an archiver that goes on, the one it had.
  ///
  /// A directory that is empty now was cleared by somebody: a new archive begins there, with the cursor,
  /// the key and the forgotten people of the old one, so that nothing that was not stored is lost. One
  /// on another file system is the place where the right one is to be mounted again.
  static func open(
    _ directory: String, _ memory: ArchiveMemory?
  ) throws(ArchiveError) -> Catalogue {
    guard let memory else {
      try make(directory)
      return try Catalogue(writing: directory)
    }
    let device = try device(directory)
    if try !FileSystem.isThere("\(directory)/\(ArchiveNames.catalogue)") {
      guard device == memory.device else {
        throw ArchiveError(
          .missing, "another file system is at \(directory): mount the archive's again")
      }
      return try begin(directory, memory)
    }
    let catalogue = try Catalogue(writing: directory)
    guard catalogue.key == memory.key else {
      throw ArchiveError(
        .missing, "\(directory) holds another archive now: put the old one back, or restart")
    }
    return catalogue
  }

  private static func begin(
    _ directory: String, _ memory: ArchiveMemory
  ) throws(ArchiveError) -> Catalogue {
    let catalogue = try Catalogue(writing: directory, key: memory.key)
    var forgotten = memory.forgotten
    forgotten.markUnsaved()
    let progress = SinkProgress(
      start: memory.progress.cursor, seekGeneration: memory.progress.seekGeneration)
    try catalogue.commit(
      ArchiverCore(
        progress: progress, doubles: Doubles(key: catalogue.hash), forgotten: forgotten,
        limits: RollLimits()), nil)
    return catalogue
  }

  /// Makes the directory where it is missing; the folder above must be there.
  static func make(_ directory: String) throws(ArchiveError) {
    do throws(SystemError) {
      try FileSystem.makeFolder(directory)
    } catch {
      throw ArchiveError(error)
    }
    guard FileSystem.isFolder(directory) else {
      throw ArchiveError(.notWritable, "\(directory) is no directory: name another")
    }
  }

  static func device(_ directory: String) throws(ArchiveError) -> UInt64 {
    do throws(SystemError) {
      return try FileSystem.identity(directory).device
    } catch {
      throw ArchiveError(error)
    }
  }
}
