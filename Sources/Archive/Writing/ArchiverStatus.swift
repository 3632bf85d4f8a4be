public import BusClient
internal import BusProtocol
public import SinkState

/// The archiver as it was at most a quarter of a second ago.
public struct ArchiverStatus: Sendable {
  public enum State: String, Sendable {
    /// Opened the directory, and waits for the bus's first answer.
    case starting
    case running
    /// The directory cannot be written; it tries again by itself. Events stay in the journal. It ends when
    /// parts are written again and everything is read, or after ten seconds without another fault: a disk
    /// that is nearly full takes a little now and then.
    case waiting
    case stopping
    case ended
  }

  public var state = State.starting
  /// While it waits: why, and what to do.
  public var trouble: ArchiveError?
  public var isConnected = false
  /// The connection to the bus, for people.
  public var link = BusLink(address: "")
  public var progress: SinkProgress?
  /// The journal's head, as the broker said last.
  public var head: UInt64 = 0
  public var openPart: OpenPart?
  /// Since the start of the process.
  public var partsWritten: UInt64 = 0
  public var bytesWritten: UInt64 = 0
  public var filesRemoved: UInt64 = 0
  public var gaps: UInt64 = 0
  /// Times that writing failed, and those since it began to wait.
  public var failures: UInt64 = 0
  var failuresOfWait: UInt64 = 0
  public var doublesRemembered = 0
  public var doubleBytes = 0
  public var conflictCount: UInt64 = 0
  public var conflicts: [Doubles.Conflict] = []
  public var peopleForgotten = 0
  /// Damaged parts that hold somebody who asked to be forgotten.
  public var unerasable: [String] = []
  /// Parts are being written anew without somebody who asked to be forgotten.
  public var isErasing = false

  public init() {}

  /// Events of the journal that it has not read yet. Those of the open part are read, but not safe before the
  /// next commit.
  public var lag: UInt64 {
    guard let cursor = progress?.cursor, head > cursor.offset else { return 0 }
    return head - cursor.offset
  }

  public var isReady: Bool { state == .running && isConnected }
}
