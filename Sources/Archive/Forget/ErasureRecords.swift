internal import Hashing
internal import SinkState

/// What an archive has on record of people who asked to be forgotten.
public enum ErasureRecords {
  /// The requests of these ids, in their order; beside the archiver or without one.
  public static func read(
    _ directory: String, ids: [String]
  ) throws(ArchiveError) -> [Erasure] {
    try CatalogueSnapshot.read(directory) { catalogue throws(ArchiveError) in
      let people = ids.compactMap { PersonHash.hash($0, by: catalogue.hash) }
      return try catalogue.erasures().filter { people.contains($0.person) }
    }
  }
}
