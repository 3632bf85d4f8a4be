internal import BusProtocol
internal import BusTransport
internal import Primitives
internal import Synchronization

/// Who may do what now, for all threads of a broker that asks for keys.
///
/// The authenticator's thread puts new tables in; the others take them when the generation has changed,
/// which costs them one relaxed load a turn.
final class AccessControl: Sendable {
  let generation = Atomic<Int>(0)
  private let table: Mutex<AccessTable>
  /// Stands before the key in the user that the authenticator gives a connection. A peer can state a user
  /// of its own should the authenticator ever be missing, but not this.
  private let seal: [UInt8]
  private let refusals = Mutex<[RefusalCounts.Key: RefusalCounts.Entry]>([:])

  init(_ keys: [AccessKey]) {
    var random = SystemRandomNumberGenerator()
    let digits = Array("0123456789abcdef".utf8)
    seal = (0..<32).map { _ in digits[Int(random.next(upperBound: UInt(16)))] }
    table = Mutex(AccessTable(keys))
  }

  func replace(_ keys: [AccessKey]) {
    table.withLock { $0 = AccessTable(keys) }
    generation.add(1, ordering: .releasing)
  }

  var current: AccessTable { table.withLock { $0 } }

  func user(of key: CurvePublicKey) -> String { String(decoding: seal, as: UTF8.self) + "\(key)" }

  /// The key in a user of ours; nil for any other.
  func key(in user: [UInt8]) -> [UInt8]? {
    guard user.count == seal.count + 40, user.starts(with: seal) else { return nil }
    return Array(user[seal.count...])
  }

  func count(_ code: RefusalCode, on port: RefusalCounts.Port, sample: String) {
    refusals.withLock {
      var entry = $0[.init(port: port, code: code)] ?? .init()
      entry.count += 1
      entry.sample = sample
      $0[.init(port: port, code: code)] = entry
    }
  }

  /// What was refused outside of the bus thread since the start.
  var counts: [RefusalCounts.Key: RefusalCounts.Entry] { refusals.withLock { $0 } }
}

/// One thread's look at the control.
struct AccessView {
  let control: AccessControl
  private(set) var table: AccessTable
  private var generation: Int

  init(_ control: AccessControl) {
    self.control = control
    generation = control.generation.load(ordering: .acquiring)
    table = control.current
  }

  /// Takes a newer table; returns whether there was one.
  mutating func refresh() -> Bool {
    let newest = control.generation.load(ordering: .acquiring)
    guard newest != generation else { return false }
    generation = newest
    table = control.current
    return true
  }

  /// Whose message it is; nil when the key is not authorised any more, or nobody vouched for it.
  func sender(of message: borrowing Message) -> AccessHolder? {
    message.user.flatMap { control.key(in: $0) }.flatMap { table.holder(of: $0) }
  }

  func allows(publishing name: [UInt8], _ message: borrowing Message) -> Bool {
    unsafe sender(of: message)?.mayPublish(name.span.bytes) ?? false
  }
}
