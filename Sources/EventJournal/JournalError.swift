public import Primitives

/// Why the journal could not do what was asked.
public enum JournalError: Error, Hashable, Sendable {
  /// No room for a group or a segment, or a file system that has turned read-only. Nothing of it counts in
  /// the file: write the same group again, before any other, when the disk takes it.
  case diskFull(SystemError)
  /// The system failed a call. From the writer this is final: what a failed sync left on the disk is
  /// unknown, so the process ends and recovery decides.
  case system(SystemError)
  /// Somebody removed the file that is written, or its directory: nothing in it would outlive this process.
  case removed(file: String)
  /// Another process writes this journal.
  case locked(directory: String, holder: Int32?)
  /// Bytes that were on the disk once do not check.
  case damaged(JournalDamage)
  /// Retention has deleted that offset; the first that is left is `earliest`.
  case behindRetention(earliest: UInt64)
  /// A newer program wrote this file. Nothing was touched.
  case newerFormat(file: String, version: UInt16, supported: UInt16)
  /// The writer failed before, or was closed.
  case closed

  /// Whether the same call can succeed later.
  public var isRetriable: Bool {
    if case .diskFull = self { true } else { false }
  }

  static func from(_ error: SystemError) -> JournalError {
    error.isDiskFull || error.isReadOnly ? .diskFull(error) : .system(error)
  }
}

extension JournalError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .diskFull(let error) where error.isReadOnly:
      "the disk takes no writes (\(error)): make its file system writable again"
    case .diskFull(let error): "the disk is full (\(error)): free some space, or shorten retention"
    case .system(let error): "\(error)"
    case .removed(let file):
      "\(file) was removed while it was written, and what was acknowledged in it is lost: "
        + "restore the directory, or start again with an empty one"
    case .locked(let directory, let holder):
      "\(directory) is in use by another broker"
        + (holder.map { " (process \($0))" } ?? "")
        + ": stop that one, or choose another --data"
    case .damaged(let damage):
      "\(damage): run `eventbus journal verify` to see all, `eventbus journal repair` to go on without"
    case .behindRetention(let earliest): "that offset is deleted; the earliest is \(earliest)"
    case .newerFormat(let file, let version, let supported):
      "\(file) has format \(version), this program reads up to \(supported): use the newer program"
    case .closed: "the journal is closed"
    }
  }
}

/// Bytes of a segment file that do not check.
public struct JournalDamage: Hashable, Sendable, CustomStringConvertible {
  public enum Reason: String, Sendable {
    case notARecord = "no record begins here"
    case torn = "the file ends within a record"
    case checksum = "the checksum does not fit"
    case stale = "a record of another segment or epoch"
    case wrongOffset = "the offset does not follow"
    case fileHeader = "the head of the file does not check"
    case snapshot = "the snapshot does not check"
    case endsEarly = "the file ends before the next segment begins"
    case overlap = "the next segment begins before this one ends"
    case headMissing = "a record names synced offsets that are not there"
  }

  public var file: String
  /// Bytes from the start of the file.
  public var position: Int
  /// Bytes that do not check, to the next record that does.
  public var length: Int
  /// The first offset that cannot be read.
  public var offset: UInt64
  /// The first offset after the damage, nil when nothing readable follows in this file.
  public var resumesAt: UInt64?
  public var reason: Reason

  public var description: String {
    "\(file) is damaged at byte \(position), offset \(offset): \(reason.rawValue)"
  }
}
