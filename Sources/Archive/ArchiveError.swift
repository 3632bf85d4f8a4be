public import Compression
public import Database
public import Primitives

/// Why the archive cannot be written or read: what happened, where, and what to do.
public struct ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable {
    case diskFull
    /// The directory is on a read-only file system, or its rights do not allow writing.
    case notWritable
    /// The directory, or the catalogue in it, is not there.
    case missing
    /// Another process writes to it.
    case inUse
    /// A file is not what the catalogue says.
    case damaged
    /// The catalogue is of a newer program.
    case newer
    case other
  }

  public var kind: Kind
  public var text: String

  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  public var description: String { text }
}

extension ArchiveError {
  public init(_ error: SystemError) {
    switch error.code {
    case _ where error.isDiskFull:
      self.init(.diskFull, "the disk is full (\(error)): free some space")
    case SystemCode.readOnly, SystemCode.notPermitted, SystemCode.noAccess:
      self.init(.notWritable, "\(error): make the directory writable")
    case SystemCode.absent, SystemCode.noDirectory, SystemCode.stale:
      self.init(.missing, "\(error): the directory must be there")
    default: self.init(.other, "\(error)")
    }
  }

  public init(_ error: DatabaseError) {
    let kind: Kind =
      switch error.kind {
      case .diskFull: .diskFull
      case .corrupt: .damaged
      case .newerSchema: .newer
      case .notWritable: .notWritable
      case .busy, .other: .other
      }
    // The statement serves nobody who only has the directory in hand.
    var short = error
    short.statement = ""
    self.init(kind, "\(short)")
  }

  public init(_ error: CompressionError, file: String) {
    self.init(.damaged, "\(file): \(error)")
  }
}
