// Cursors of named subscribers, in `cursors.sqlite` beside the journal's segments. Schema version 1:
//
//   subscribers   name BLOB primary key, offset INTEGER, epoch INTEGER, generation INTEGER,
//                 paused INTEGER, created INTEGER, seen INTEGER, delivered INTEGER, missed INTEGER
//   filters       subscriber BLOB, place INTEGER, kind TEXT, text BLOB
//
// Times are nanoseconds since 1970. A file of a newer schema is refused at start, untouched.
internal import BusProtocol
internal import Database

struct CursorStore: ~Copyable {
  private let database: Database
  private let put, delete, deleteFilters, putFilter: Statement

  init(directory: String) throws(DatabaseError) {
    let database = try Database(
      directory + "/cursors.sqlite",
      migrations: [
        """
        CREATE TABLE subscribers (
          name BLOB PRIMARY KEY, offset INTEGER NOT NULL, epoch INTEGER NOT NULL,
          generation INTEGER NOT NULL, paused INTEGER NOT NULL, created INTEGER NOT NULL,
          seen INTEGER NOT NULL, delivered INTEGER NOT NULL, missed INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE filters (
          subscriber BLOB NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL,
          text BLOB NOT NULL, PRIMARY KEY (subscriber, place)
        ) WITHOUT ROWID
        """
      ])
    let put = try database.prepare(
      "INSERT OR REPLACE INTO subscribers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    let delete = try database.prepare("DELETE FROM subscribers WHERE name = ?")
    let deleteFilters = try database.prepare("DELETE FROM filters WHERE subscriber = ?")
    let putFilter = try database.prepare("INSERT INTO filters VALUES (?, ?, ?, ?)")
    self.database = database
    self.put = put
    self.delete = delete
    self.deleteFilters = deleteFilters
    self.putFilter = putFilter
  }

  func load() throws(DatabaseError) -> [CursorRecord] {
    var filters: [[UInt8]: [NameFilter]] = [:]
    let filterRows = try database.prepare(
      "SELECT subscriber, kind, text FROM filters ORDER BY subscriber, place")
    while try filterRows.step() {
      // Without it the subscriber would have fewer filters, which let more through.
      guard let kind = NameFilter.Kind(rawValue: filterRows.text(1)) else {
        throw DatabaseError(
          kind: .corrupt, path: database.path, text: "\"\(filterRows.text(1))\" is no filter")
      }
      filters[filterRows.bytes(0), default: []].append(NameFilter(kind, filterRows.bytes(2)))
    }
    var records: [CursorRecord] = []
    let rows = try database.prepare("SELECT * FROM subscribers")
    while try rows.step() {
      var record = CursorRecord(
        name: rows.bytes(0),
        cursor: Position(epoch: UInt32(clamping: rows.integer(2)), offset: try rows.count(1)),
        filters: filters[rows.bytes(0)] ?? [], created: max(0, rows.integer(5)),
        lastSeen: max(0, rows.integer(6)))
      record.seekGeneration = try rows.count(3)
      record.isPaused = rows.integer(4) != 0
      record.delivered = try rows.count(7)
      record.missed = try rows.count(8)
      records.append(record)
    }
    return records
  }

  /// All changes in one transaction: one sync of the disk.
  func write(_ changes: [CursorChange]) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      for change in changes {
        switch change {
        case .put(let record): try write(record)
        case .delete(let name):
          try delete.bind(1, name)
          try delete.run()
          try removeFilters(of: name)
        }
      }
    }
  }

  private func write(_ record: CursorRecord) throws(DatabaseError) {
    try put.bind(1, record.name)
    try put.bind(2, record.cursor.offset)
    try put.bind(3, Int64(record.cursor.epoch))
    try put.bind(4, record.seekGeneration)
    try put.bind(5, Int64(record.isPaused ? 1 : 0))
    try put.bind(6, record.created)
    try put.bind(7, record.lastSeen)
    try put.bind(8, record.delivered)
    try put.bind(9, record.missed)
    try put.run()
    try removeFilters(of: record.name)
    for (place, filter) in record.filters.enumerated() {
      try putFilter.bind(1, record.name)
      try putFilter.bind(2, Int64(place))
      try putFilter.bind(3, filter.kind.rawValue)
      try putFilter.bind(4, filter.text)
      try putFilter.run()
    }
  }

  private func removeFilters(of name: [UInt8]) throws(DatabaseError) {
    try deleteFilters.bind(1, name)
    try deleteFilters.run()
  }
}
