/// A failed call of SQLite: what, where, and what to do.
public struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    case diskFull
    /// Another process holds the lock longer than the busy time.
    case busy
    /// The file is no database, or damaged.
    case corrupt
    /// A newer program made the file; it was not touched.
    case newerSchema
    /// The file or its folder cannot be written: rights, or a read-only disk.
    case notWritable
    case other
  }

  public var kind: Kind
  public var path: String
  public var text: String
  /// The statement concerned; empty when there is none.
  public var statement: String

  public init(kind: Kind, path: String, text: String, statement: String = "") {
    self.kind = kind
    self.path = path
    self.text = text
    self.statement = statement
  }

  public var description: String {
    let place = statement.isEmpty ? path : "\(path), in \"\(statement)\""
    return switch kind {
    case .diskFull: "the disk is full (\(place)): free some space"
    case .busy: "\(place) is locked by another process: \(text)"
    case .corrupt: "\(place) is damaged (\(text)): restore it, or move it away to begin anew"
    case .newerSchema: "\(path) \(text)"
    case .notWritable: "\(place) cannot be written (\(text)): its folder must be there and writable"
    case .other: "\(place): \(text)"
    }
  }
}
