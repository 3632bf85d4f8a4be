internal import Database
internal import EventModel
internal import Hashing
internal import SinkState

/// What the catalogue says at one moment: its parts, and of these what a query asked for.
struct CatalogueSnapshot: Sendable {
  /// In the order of their positions.
  var parts: [Part] = []
  /// By the part's number; of all parts, or none when they were not wanted.
  var names: [Int64: [NameCount]] = [:]
  /// How many parts there are, those left out included.
  var total = 0

  /// Opens the catalogue to read it and gives it to `body`, within one transaction.
  ///
  /// A file that nobody seemed to write could be written meanwhile; then it is read again.
  static func read<R>(
    _ directory: String, _ body: (borrowing Catalogue) throws(ArchiveError) -> R
  ) throws(ArchiveError) -> R {
    let path = directory + "/" + ArchiveNames.catalogue
    for _ in 0..<10 {
      let before = Database.fileState(path)
      let catalogue = try Catalogue(reading: directory)
      let isSure = { !$0 || Database.fileState(path) == before }
      do throws(ArchiveError) {
        let result = try catalogue.snapshot(body)
        if isSure(catalogue.database.isImmutable) { return result }
      } catch {
        if isSure(catalogue.database.isImmutable) { throw error }
      }
    }
    throw ArchiveError(.other, "\(path) is being written all the time: try again")
  }
}

extension CatalogueSnapshot {
  /// - Parameters:
  ///   - filter: parts that cannot hold any of its events are left out.
  ///   - range: only parts that overlap these positions.
  init(
    _ catalogue: borrowing Catalogue, _ filter: ArchiveFilter, wantsNames: Bool
  ) throws(ArchiveError) {
    let exact = filter.patterns.compactMap(\.exactName)
    let names = !exact.isEmpty && exact.count == filter.patterns.count ? exact : nil
    total = try catalogue.partCount()
    parts = try catalogue.parts(
      PartFilter(timestampFrom: filter.from, timestampTo: filter.to, names: names))
    if wantsNames || !filter.patterns.isEmpty { self.names = try catalogue.nameCounts(of: parts) }
    guard let user = filter.user, let person = PersonHash.hash(user, by: catalogue.hash) else {
      return
    }
    var kept: [Part] = []
    for part in parts where try catalogue.people(of: part).contains(person) { kept.append(part) }
    parts = kept
  }
}

extension Catalogue {
  /// Runs `body` in one read transaction: all that it asks is answered as of one moment.
  func snapshot<R>(
    _ body: (borrowing Catalogue) throws(ArchiveError) -> R
  ) throws(ArchiveError) -> R {
    try run("BEGIN")
    do throws(ArchiveError) {
      let result = try body(self)
      try run("COMMIT")
      return result
    } catch {
      do { try run("ROLLBACK") } catch {
        // SQLite has ended the transaction by itself.
      }
      throw error
    }
  }

  private func run(_ statement: String) throws(ArchiveError) {
    do throws(DatabaseError) { try database.execute(statement) } catch { throw ArchiveError(error) }
  }

  func partCount() throws(ArchiveError) -> Int {
    do throws(DatabaseError) {
      let query = try database.prepare("SELECT COUNT(*) FROM parts")
      return try query.step() ? Int(query.integer(0)) : 0
    } catch {
      throw ArchiveError(error)
    }
  }

  /// The names of these parts, by the parts' numbers: one query over all parts where they are many.
  func nameCounts(of parts: [Part]) throws(ArchiveError) -> [Int64: [NameCount]] {
    var names: [Int64: [NameCount]] = [:]
    guard parts.count > 100 else {
      for part in parts { names[part.id] = try nameCounts(of: part) }
      return names
    }
    for part in parts { names[part.id] = [] }
    do throws(DatabaseError) {
      let query = try database.prepare("SELECT part, name, count FROM part_names")
      while try query.step() {
        names[query.integer(0)]?.append(
          NameCount(name: query.bytes(1), count: try figure(query, 2)))
      }
    } catch {
      throw ArchiveError(error)
    }
    return names
  }
}
