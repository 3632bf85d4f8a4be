internal import BusProtocol
public import Database
public import Hashing
public import Primitives
public import SinkState

/// What a destination keeps on disk: cursor, ledger and dead letters, changed together.
///
/// Belongs to one thread. A file that is found damaged, at the start or later, is moved aside whole; the
/// dead letters that can still be read are taken over, and the cursor is the bus's copy then.
public struct DeliveryStore: ~Copyable {
  public let folder: DestinationFolder
  private let route: String
  private let letterBytes: Int
  private var database: Database
  private let key: [UInt8]
  private var people: ForgottenPeople
  /// What happened to the file when it was opened.
  public private(set) var notices: [String] = []

  public init(
    _ folder: DestinationFolder, route: String, letterBytes: Int, now: Timestamp
  ) throws(DeliveryStoreError) {
    do throws(SystemError) { try folder.create() } catch { throw .folder(error) }
    let opened = try Self.open(folder, now: now)
    key = opened.key
    people = opened.people
    notices = opened.notices
    database = opened.database
    self.folder = folder
    self.route = route
    self.letterBytes = letterBytes
  }

  public var peopleKey: KeyedHash { people.key }
  /// A copy for whoever has to leave out the events of forgotten people.
  public var forgotten: ForgottenPeople { people }

  /// Where it was; nil for one that begins, or whose file was damaged.
  public func progress() throws(DatabaseError) -> SinkProgress? {
    try SinkTables.load(database)
  }

  /// Stores what became of a run of events, in one transaction; returns how many old dead letters had
  /// to go. When this throws, nothing is changed and the same settlement can be tried again.
  public mutating func commit(
    _ settlement: Settlement, at now: Timestamp
  ) throws(DatabaseError) -> Int {
    let (route, letterBytes, key) = (route, letterBytes, people.key)
    var people = people
    for mark in settlement.forgets {
      for entry in mark.people { people.forget(entry) }
    }
    let dropped = try database.transaction { () throws(DatabaseError) -> Int in
      for (event, refusal) in settlement.letters {
        try DeadLetters.insert(
          Self.letter(event, refusal, route: route, at: now), in: database)
      }
      for (letter, outcome) in settlement.redriven {
        switch outcome {
        case .delivered, .unproven, .skipped, .forgotten:
          _ = try DeadLetters.drop(letter, in: database)
        case .dead(let refusal):
          try DeadLetters.refuseAgain(letter, refusal, at: now, in: database)
        }
      }
      for mark in settlement.forgets { try Self.erase(mark, key: key, in: database) }
      if let progress = settlement.progress { try SinkTables.store(progress, in: database) }
      try ForgottenTables.store(people, in: database)
      guard !settlement.letters.isEmpty else { return 0 }
      return try DeadLetters.shrink(to: letterBytes, in: database)
    }
    people.markSaved()
    self.people = people
    return dropped
  }

  private static func letter(
    _ event: DeliveryEvent, _ refusal: Refusal, route: String, at now: Timestamp
  ) -> DeadLetter {
    DeadLetter(
      id: 0, state: .kept, position: event.source.position ?? Position(epoch: 0, offset: 0),
      received: event.source.received, died: now, refusal: refusal, route: route,
      isEdited: false, payload: event.payload)
  }

  /// Dead letters to be sent again, from an id on.
  public func queuedLetters(from first: Int64, limit: Int) throws(DatabaseError) -> [DeadLetter] {
    var found: [DeadLetter] = []
    try DeadLetters.forEach(database, from: first, onlyQueued: true) { letter in
      found.append(letter)
      return found.count < limit
    }
    return found
  }

  public func letterTotals() throws(DatabaseError) -> DeadLetters.Totals {
    try DeadLetters.totals(database)
  }

  /// For those who look into the file: `eventbus status`.
  public func writeStatus(
    _ status: DeliveryStatus, json: String, at now: Timestamp
  ) throws(DatabaseError) {
    let put = try database.prepare(
      "INSERT OR REPLACE INTO status VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)")
    try put.bind(1, now.nanoseconds)
    try put.bind(2, status.state.word)
    try put.bind(3, status.state.reason ?? "")
    try put.bind(4, Int64(status.waitingEvents))
    if let oldest = status.oldestWaiting {
      try put.bind(5, oldest.nanoseconds)
    } else {
      try put.bindNull(5)
    }
    try put.bind(6, status.lag)
    try put.bind(7, status.rate)
    try put.bind(8, json)
    try put.run()
  }

  /// Marks one to be sent again, edits it or drops it, as a person's commands do.
  public borrowing func withDatabase<R>(
    _ body: (borrowing Database) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R { try body(database) }

  /// Moves a file that turned out damaged aside and begins a new one. What is in memory goes on: the
  /// next commit stores the whole cursor and ledger.
  public mutating func replaceDamaged(at now: Timestamp) throws(DeliveryStoreError) {
    var notices: [String] = []
    database = try Self.salvage(folder, why: "found damaged", now: now, &notices)
    self.notices += notices
    people.markUnsaved()
    do throws(DatabaseError) { try Self.store(key, in: database) } catch {
      throw .database(error)
    }
  }

  /// The notices since the last call.
  public mutating func takeNotices() -> [String] {
    var taken: [String] = []
    swap(&taken, &notices)
    return taken
  }
}
