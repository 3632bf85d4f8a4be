internal import Database

extension Catalogue {
  /// Takes parts out and puts others in their place, in one transaction.
  ///
  /// The files of the new ones are finished, synced and under their names. The old ones' files may be
  /// removed afterwards; a reader that has one open reads it to its end.
  ///
  /// - Returns: false, and nothing is changed, when one of `old` is no longer there.
  public func replace(_ old: [Part], with new: [NewPart]) throws(ArchiveError) -> Bool {
    do throws(DatabaseError) {
      return try database.transaction { () throws(DatabaseError) in
        try swap(old, for: new)
      }
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Inside a transaction.
  func swap(_ old: [Part], for new: [NewPart]) throws(DatabaseError) -> Bool {
    guard try hasAll(old) else { return false }
    for part in old { try remove(part) }
    for part in new { try add(part) }
    return true
  }

  private func hasAll(_ parts: [Part]) throws(DatabaseError) -> Bool {
    let query = try database.prepare("SELECT 1 FROM parts WHERE id = ? AND path = ?")
    for part in parts {
      try query.bind(1, part.id)
      try query.bind(2, part.path)
      guard try query.step() else { return false }
      try query.reset()
    }
    return true
  }

  private func remove(_ part: Part) throws(DatabaseError) {
    for table in ["part_names WHERE part", "part_people WHERE part", "parts WHERE id"] {
      let delete = try database.prepare("DELETE FROM \(table) = ?")
      try delete.bind(1, part.id)
      try delete.run()
    }
  }

  /// Inside a transaction.
  func add(_ new: NewPart) throws(DatabaseError) {
    let id = try addRow(new.part)
    let name = try database.prepare("INSERT INTO part_names VALUES (?, ?, ?)")
    for entry in new.names {
      try name.bind(1, id)
      try name.bind(2, entry.name)
      try name.bind(3, entry.count)
      try name.run()
    }
    let people = try database.prepare("INSERT INTO part_people VALUES (?, ?)")
    try people.bind(1, id)
    try people.bind(2, new.people.encoded)
    try people.run()
  }

  private func addRow(_ part: Part) throws(DatabaseError) -> Int64 {
    let row = try database.prepare(
      """
      INSERT INTO parts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
      """)
    try row.bind(1, part.path)
    try row.bind(2, Int64(part.epoch))
    try row.bind(3, part.first)
    try row.bind(4, part.last)
    try row.bind(5, part.count)
    try row.bind(6, part.bytes)
    try row.bind(7, part.rawBytes)
    try row.bind(8, part.sha256)
    try row.bind(9, part.timestamps.lowerBound)
    try row.bind(10, part.timestamps.upperBound)
    try row.bind(11, part.times.lowerBound)
    try row.bind(12, part.times.upperBound)
    try row.bind(13, part.created)
    try row.bind(14, part.covered.lowerBound)
    try row.bind(15, part.covered.upperBound)
    _ = try row.step()
    let id = row.integer(0)
    try row.reset()
    return id
  }
}
