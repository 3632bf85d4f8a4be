internal import EventJournal
internal import TestSupport

extension TemporaryFolder {
  /// The folder as a journal's disk.
  var storage: DirectoryStorage { DirectoryStorage(path: path) }
}
