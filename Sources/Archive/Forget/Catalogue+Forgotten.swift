internal import Database
internal import Hashing
internal import SinkState

extension Catalogue {
  /// The people who asked to be forgotten.
  func forgotten() throws(ArchiveError) -> ForgottenPeople {
    do throws(DatabaseError) {
      return try ForgottenTables.load(database, key: hash)
    } catch {
      throw ArchiveError(error)
    }
  }

  /// The parts, in order, that may hold events to be erased: from before a request, of its person.
  ///
  /// Reads the index of each part, and no file: about 1 ms for 100,000 people.
  func parts(toErase erasures: [Erasure]) throws(ArchiveError) -> [Part] {
    guard let last = erasures.map(\.place).max() else { return [] }
    var found: [Part] = []
    for part in try parts() where part.firstPosition < last {
      let people = try people(of: part)
      let isConcerned = erasures.contains {
        part.firstPosition < $0.place && people.contains($0.person)
      }
      if isConcerned { found.append(part) }
    }
    return found
  }
}
