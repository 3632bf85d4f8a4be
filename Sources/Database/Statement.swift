internal import CSQLite

/// A prepared statement. Bind, step until false, reset, and again. Parameters and columns count from
/// 1 and 0, as SQLite's do. It keeps its connection open.
@safe public struct Statement: ~Copyable {
  private let statement: OpaquePointer
  private let connection: Connection
  private let text: String

  init(_ connection: Connection, _ text: String) throws(DatabaseError) {
    unsafe statement = try Self.prepare(connection, text)
    self.connection = connection
    self.text = text
  }

  private static func prepare(
    _ connection: Connection, _ text: String
  ) throws(DatabaseError) -> OpaquePointer {
    var prepared: OpaquePointer?
    let result = unsafe sqlite3_prepare_v3(
      connection.handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard result == SQLITE_OK, let statement = unsafe prepared else {
      throw connection.error(in: text)
    }
    return unsafe statement
  }

  deinit { unsafe sqlite3_finalize(statement) }

  public func bind(_ index: Int32, _ value: Int64) throws(DatabaseError) {
    try check(unsafe sqlite3_bind_int64(statement, index, value))
  }

  /// Kept as the bit pattern of an Int64; read with `unsigned`. SQL must not compare such columns.
  public func bind(_ index: Int32, _ value: UInt64) throws(DatabaseError) {
    try bind(index, Int64(bitPattern: value))
  }

  public func bind(_ index: Int32, _ value: Double) throws(DatabaseError) {
    try check(unsafe sqlite3_bind_double(statement, index, value))
  }

  public func bind(_ index: Int32, _ value: String) throws(DatabaseError) {
    try check(unsafe sqlite3_bind_text(statement, index, value, Int32(value.utf8.count), copied))
  }

  public func bind(_ index: Int32, _ bytes: [UInt8]) throws(DatabaseError) {
    // An empty array may have no address, which SQLite would take for NULL.
    let result =
      bytes.isEmpty
      ? unsafe sqlite3_bind_zeroblob(statement, index, 0)
      : unsafe sqlite3_bind_blob64(statement, index, bytes, UInt64(bytes.count), copied)
    try check(result)
  }

  public func bindNull(_ index: Int32) throws(DatabaseError) {
    try check(unsafe sqlite3_bind_null(statement, index))
  }

  /// Goes to the next row; false when there is none. After an error it is ready to be bound again.
  public func step() throws(DatabaseError) -> Bool {
    switch unsafe sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let error = connection.error(in: text)
      // Else SQLite would bind nothing to it any more: a statement that is kept would fail for ever.
      unsafe sqlite3_reset(statement)
      throw error
    }
  }

  /// Makes it ready to be bound and stepped again.
  public func reset() throws(DatabaseError) {
    // The result repeats the last step's error, which was thrown there.
    unsafe sqlite3_reset(statement)
    try check(unsafe sqlite3_clear_bindings(statement))
  }

  /// Binds nothing more, runs to the end, and resets.
  public func run() throws(DatabaseError) {
    while try step() {}
    try reset()
  }

  public func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement, column) }
  public func unsigned(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

  /// What counts or numbers something, where in a damaged file anything can stand.
  ///
  /// - Throws: `.corrupt` from 2^60 on, so that what is read can be added up.
  public func count(_ column: Int32) throws(DatabaseError) -> UInt64 {
    let value = unsigned(column)
    guard value < 1 << 60 else {
      let name = unsafe sqlite3_column_name(statement, column).map { unsafe String(cString: $0) }
      throw DatabaseError(
        kind: .corrupt, path: connection.path,
        text: "\(name ?? "a count") is \(integer(column)), which cannot be")
    }
    return value
  }

  public func double(_ column: Int32) -> Double { unsafe sqlite3_column_double(statement, column) }
  public func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(statement, column) == SQLITE_NULL
  }

  public func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

  public func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
    let count = Int(unsafe sqlite3_column_bytes(statement, column))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  private func check(_ result: Int32) throws(DatabaseError) {
    guard result == SQLITE_OK else { throw connection.error(in: text) }
  }
}

/// SQLITE_TRANSIENT: SQLite copies what is bound. A macro that Swift does not see.
private var copied: sqlite3_destructor_type {
  unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
