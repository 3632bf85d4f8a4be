// Rows of a SQLite file with values that SQLite itself finds nothing wrong with:
//
//   [column u8][length u8][bytes]...   a column of numbers gets the bytes as one number, big endian, and
//                                      NULL where there are none; another gets them as they are
#if DEBUG || FUZZING
  internal import Database
  internal import Primitives

  /// The columns that an input can change.
  struct RowChanges: Sendable {
    struct Table {
      var name: String
      /// Which of its rows.
      var rows = "TRUE"
      var numbers: [String] = []
      var bytes: [String] = []
    }

    private static let most = 12
    private let columns: [(statement: String, isNumber: Bool)]

    init(_ tables: [Table]) {
      columns = tables.flatMap { table in
        func statement(_ column: String) -> String {
          "UPDATE \(table.name) SET \(column) = ?1 WHERE \(table.rows)"
        }
        return table.numbers.map { (statement($0), true) }
          + table.bytes.map { (statement($0), false) }
      }
    }

    /// Each column in turn with a value at the end of its range; some with two.
    var seeds: [[UInt8]] {
      let values: [[UInt8]] = [
        [0x7F] + [UInt8](repeating: 0xFF, count: 7), [UInt8](repeating: 0xFF, count: 8), [0],
      ]
      return columns.indices.flatMap { column in
        values.map { [UInt8(column), UInt8($0.count)] + $0 }
      }
    }

    /// What a constraint refuses stays as it was.
    func apply(_ input: [UInt8], to database: borrowing Database) throws(DatabaseError) {
      var rest = input[...]
      for _ in 0..<Self.most {
        guard let column = rest.popFirst(), let length = rest.popFirst() else { return }
        let bytes = Array(rest.prefix(Int(length)))
        rest = rest.dropFirst(bytes.count)
        let (text, isNumber) = columns[Int(column) % columns.count]
        let statement = try database.prepare(text)
        if !isNumber {
          try statement.bind(1, bytes)
        } else if bytes.isEmpty {
          try statement.bindNull(1)
        } else {
          try statement.bind(1, bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        }
        _ = answer { () throws(DatabaseError) in try statement.run() }
      }
    }
  }

  /// A file that a service has made, as it was before each input, and changed by it.
  final class SampleFile: Sendable {
    private let path: String
    private let versions: Int
    private let bytes: [UInt8]
    private let changes: RowChanges

    /// - Parameters:
    ///   - path: of a closed file, in a folder of its own in the scratch folder.
    ///   - versions: of its schema.
    ///   - setup: statements that add what the service has not.
    init(
      _ path: String, versions: Int, setup: String = "", _ changes: RowChanges
    ) throws(DatabaseError) {
      self.path = path
      self.versions = versions
      self.changes = changes
      try Self.change(path, versions) { database throws(DatabaseError) in
        try database.execute(setup)
      }
      do throws(PrivateFile.Failure) {
        bytes = try PrivateFile.read(path, limit: 4 << 20, isSecret: false)
      } catch {
        throw DatabaseError(kind: .other, path: path, text: "\(error)")
      }
    }

    private static func change(
      _ path: String, _ versions: Int, _ body: (borrowing Database) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
      let database = try Database(path, migrations: Array(repeating: "", count: versions))
      try database.execute("PRAGMA synchronous = OFF")
      try database.transaction { () throws(DatabaseError) in try body(database) }
      // All of it in the one file.
      try database.execute("PRAGMA journal_mode = DELETE")
    }

    /// Puts the file back, without what was left beside it, and changes it.
    func change(_ input: [UInt8]) throws(Violation) {
      try accepted("the sample file") { () throws(SystemError) in
        try Scratch.replace(path, bytes)
      }
      try accepted("its rows") { () throws(DatabaseError) in
        try Self.change(path, versions) { database throws(DatabaseError) in
          try changes.apply(input, to: database)
        }
      }
    }

    /// A refusal tells that it is damaged, which one, and so what to do.
    func requireDamage(_ error: DatabaseError) throws(Violation) {
      try require(error.kind == .corrupt && "\(error)".contains(path), "\(error.kind): \(error)")
    }
  }
#endif
