internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The handle of one open file: closed after the last statement made from it, since each holds it.
@safe final class Connection {
  let handle: OpaquePointer
  let path: String

  enum Access { case write, read, readImmutable }

  init(_ path: String, _ access: Access = .write) throws(DatabaseError) {
    var opened: OpaquePointer?
    var flags = SQLITE_OPEN_NOMUTEX
    var name = path
    switch access {
    case .write: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .read: flags |= SQLITE_OPEN_READONLY
    case .readImmutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = "file:\(Self.escapedForURI(path))?immutable=1"
    }
    if access == .write { Self.makePrivate(path) }
    let result = unsafe sqlite3_open_v2(name, &opened, flags, nil)
    guard let handle = unsafe opened else {
      throw DatabaseError(kind: .other, path: path, text: "no memory for a connection")
    }
    unsafe self.handle = handle
    self.path = path
    guard result == SQLITE_OK else { throw error() }
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  /// Makes the file, if it is not there, for its user alone: SQLite would let everybody read it, and gives
  /// what it keeps beside it the same mode. Only one that is new: to open and close another would take the
  /// locks away that this process has on it. What cannot be made here SQLite tells.
  private static func makePrivate(_ path: String) {
    guard !path.isEmpty, path != ":memory:" else { return }
    let file = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 { close(file) }
  }

  /// All but letters, digits and slashes as %XX: what else is special in a URI is then no matter.
  private static func escapedForURI(_ path: String) -> String {
    var text = ""
    for byte in path.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2F: text.unicodeScalars.append(.init(byte))
      default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return text
  }

  func run(_ statements: String) throws(DatabaseError) {
    guard unsafe sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK else {
      throw error(in: statements)
    }
  }

  /// Ends a transaction that failed. A COMMIT that failed may have done so itself.
  func rollBack() { _ = unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }

  func waitWhenBusy(milliseconds: Int32) { unsafe sqlite3_busy_timeout(handle, milliseconds) }

  /// The error of the call that just failed.
  func error(in statement: String = "") -> DatabaseError {
    let kind: DatabaseError.Kind =
      switch unsafe sqlite3_errcode(handle) & 0xFF {
      case SQLITE_FULL: .diskFull
      // What the system refuses for want of space can come back as an I/O error.
      case SQLITE_IOERR where unsafe [ENOSPC, EDQUOT].contains(sqlite3_system_errno(handle)):
        .diskFull
      case SQLITE_IOERR where unsafe sqlite3_system_errno(handle) == EROFS: .notWritable
      case SQLITE_BUSY, SQLITE_LOCKED: .busy
      case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN: .notWritable
      default: .other
      }
    let text = unsafe String(cString: sqlite3_errmsg(handle))
    return DatabaseError(kind: kind, path: path, text: text, statement: statement)
  }
}
