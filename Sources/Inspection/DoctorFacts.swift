public import BusProtocol
public import SinkState

/// What `doctor` has seen, before any judgement. Each part may be missing: a doctor is called when things
/// are down.
public struct DoctorFacts: Sendable {
  /// Nanoseconds since 1970.
  public var now: Int64
  /// Of the program that looks.
  public var version: String
  public var bus: String
  public var broker = Broker.silent(why: "nobody has asked", somebodyListens: false)
  /// The broker's head when it was asked a second time, after the sinks: those go on reading meanwhile.
  public var headAfter: Position?
  public var data: String
  public var disk: Disk?
  /// Of the directories with events, those that every user of the machine may read; nil
  /// where there are none.
  public var openDirectories: [String]?
  /// Directories that are there and do not let this user look into them.
  public var closedDirectories: [String] = []
  public var journal = JournalFact.none
  public var sinks: [Sink] = []
  public var archive: ArchiveFact?
  public var services: [Service] = []
  /// Soft and hard limit of open files.
  public var openFiles: (soft: UInt64, hard: UInt64)?
  /// A subscriber that is connected and further behind than this is too slow, or stuck.
  public var maximumLag: UInt64 = 1_000_000
  /// An event that waits longer than this for its destination is a failure: ten minutes.
  public var maximumWait: Int64 = 600_000_000_000

  public init(now: Int64, version: String, bus: String, data: String) {
    self.now = now
    self.version = version
    self.bus = bus
    self.data = data
  }

  public enum Broker: Sendable {
    /// What its status says.
    case answered(ControlMap)
    case silent(why: String, somebodyListens: Bool)
  }

  public struct Disk: Hashable, Sendable {
    public var free: UInt64
    public var total: UInt64
    public var freeFiles: UInt64

    public init(free: UInt64, total: UInt64, freeFiles: UInt64) {
      self.free = free
      self.total = total
      self.freeFiles = freeFiles
    }
  }

  public enum JournalFact: Hashable, Sendable {
    /// There is none in the data directory.
    case none
    case unreadable(why: String)
    case read(Journal)
  }

  public struct Journal: Hashable, Sendable {
    public var earliest: UInt64
    public var head: UInt64
    public var epoch: UInt64
    public var bytes: UInt64
    /// Each named with its place.
    public var damages: [String]
    /// Whether all of it was read, not just the newest segment and the heads of the others.
    public var isWhole: Bool
    /// Events that a repair gave up.
    public var lost: UInt64 = 0

    public init(
      earliest: UInt64, head: UInt64, epoch: UInt64, bytes: UInt64, damages: [String],
      isWhole: Bool
    ) {
      self.earliest = earliest
      self.head = head
      self.epoch = epoch
      self.bytes = bytes
      self.damages = damages
      self.isWhole = isWhole
    }
  }

  /// Something that keeps its own cursor: archiver, aggregator, each destination.
  public struct Sink: Sendable {
    /// Its subscriber's name.
    public var name: String
    public var file: String
    /// Nil while it has stored nothing, or cannot be read.
    public var progress: SinkProgress?
    public var trouble = ""
    public var letters: UInt64 = 0
    public var lettersDropped: UInt64 = 0
    /// Of a destination's publisher, and nil of all else.
    public var delivery: Delivery?

    public init(name: String, file: String) {
      self.name = name
      self.file = file
    }
  }

  /// How a destination does, as its publisher wrote it last.
  public struct Delivery: Hashable, Sendable {
    /// Where it keeps its state.
    public var folder: String
    public var isRunning = false
    /// `delivering`, `backing-off`, ...; empty before the first word of it.
    public var state = ""
    /// Why it does not deliver, when it does not.
    public var reason = ""
    /// When the bus took the oldest event that waits; nanoseconds since 1970, nil when none waits.
    public var oldest: Int64?

    public init(folder: String) { self.folder = folder }

    /// Its events wait for somebody else: neither under way nor just beginning.
    var isHeldUp: Bool { isRunning && !["", "opening", "delivering"].contains(state) }
    /// Only a person can change it.
    var isRefusingAll: Bool {
      isRunning && ["configuration-error", "store-error"].contains(state)
    }
  }

  public struct ArchiveFact: Hashable, Sendable {
    public var directory: String
    public var trouble = ""
    public var parts = 0
    public var events: UInt64 = 0
    public var missingFiles: [String] = []
    public var wrongSizes: [String] = []
    public var strayFiles: [String] = []
    /// Places where two parts hold the same offsets.
    public var overlaps: [String] = []

    public init(directory: String) { self.directory = directory }
  }

  public struct Service: Hashable, Sendable {
    public enum Answer: Hashable, Sendable {
      case ready
      case notReady(String)
      /// Nothing listens on its port, and the port is free for it.
      case down
      /// Something listens there that is not ours.
      case stranger(String)
    }
    public var name: String
    public var address: String
    /// Its data is there, so it has been used here and should run.
    public var isExpected: Bool
    public var answer: Answer
    /// Events that it has not read yet, as it says itself; nil where it says nothing of that. What waits for its
    /// next commit is read: an archiver's cursor stays behind for as long as a part is open.
    public var unread: UInt64?

    public init(name: String, address: String, isExpected: Bool, answer: Answer) {
      self.name = name
      self.address = address
      self.isExpected = isExpected
      self.answer = answer
    }
  }
}
